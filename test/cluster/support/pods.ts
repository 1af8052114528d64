// Pods of a few lines each, for tests of the cluster itself.
import { NODE_IMAGE } from './node-image.ts';

export interface PodOptions {
  readonly name: string;
  /** The script that node runs in it. */
  readonly script: string;
  readonly node?: string;
  /** A claim that is mounted at /data. */
  readonly claim?: string;
}

/** As a restricted namespace demands it: a user without rights, and a group for its volumes. */
export function pod(options: PodOptions): object {
  const { name, script, node, claim: claimName } = options;
  const volumes =
    claimName === undefined ? [] : [{ name: 'data', persistentVolumeClaim: { claimName } }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      terminationGracePeriodSeconds: 0,
      ...(node === undefined ? {} : { nodeSelector: { 'kubernetes.io/hostname': node } }),
      securityContext: {
        runAsUser: 1234,
        runAsGroup: 1234,
        fsGroup: 4321,
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'node',
          image: NODE_IMAGE,
          args: ['-e', script],
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
            readOnlyRootFilesystem: true,
          },
          volumeMounts: volumes.map((volume) => ({ name: volume.name, mountPath: '/data' })),
        },
      ],
      volumes,
    },
  };
}

export const claim = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});

/** Port 80 of a Service in front of port 8080 of the pods of that label. */
export const service = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] },
});

/** Answers every request with its own name. */
export const WEB = `
  console.log('serving');
  const answer = (request, response) => response.end(process.env.HOSTNAME);
  require('http').createServer(answer).listen(8080);
`;

/**
 * A pod that has half of that node's memory for itself, and never starts. The scheduler takes
 * nodes that have more left, of those that are equal otherwise.
 */
export const takesRoom = (node: string, namespace: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `takes-room-on-${node}`, namespace },
  spec: {
    nodeName: node,
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'none',
        image: 'none.invalid/none',
        imagePullPolicy: 'Never',
        resources: { requests: { cpu: '1', memory: '10Gi' } },
      },
    ],
  },
});
