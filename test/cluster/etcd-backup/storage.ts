// An object storage in a pod of its own, which speaks S3 and keeps its objects for as long as the
// pod lives, and the client of a test.
import { cachedArchive } from '../../../knative/try/cluster/knative/cached-archive.ts';
import { partEntry } from '../../../knative/try/local/parts/catalog.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { partsSettings } from '../../../knative/try/local/parts/settings.ts';
import { programSpec } from '../../../knative/tools/images/program.ts';
import { type Bucket, openBucket } from '../../../shared/s3/bucket.ts';
import { Transport } from '../../../shared/s3/transport.ts';
import { settingsFor } from '../../builders/posing-s3.ts';
import { until } from '../../builders/versioned-kind.ts';
import { BUCKET, KEYS } from '../../integration/etcd-backup/s3-server.ts';
import type { EtcdPodPlace } from '../etcd-cluster/pod-place.ts';

const PORT = 7070;
const IMAGE = `dev.local/ballast/versitygw:${partEntry('versitygw').version}`;
const SERVICES = { group: '', version: 'v1', resource: 'services' } as const;
const PODS = { group: '', version: 'v1', resource: 'pods' } as const;
const READY_WITHIN_MS = 60_000;

export interface Storage {
  /** For pods. */
  readonly endpoint: string;
  readonly bucket: Bucket;
  /** The uid of its own pod. */
  readonly podUid: string;
}

export async function startStorage(place: EtcdPodPlace, namespace: string): Promise<Storage> {
  const binary = await resolvePart('versitygw');
  const spec = await programSpec({ image: IMAGE, binary });
  await place.nodes.importImage(await cachedArchive(spec, partsSettings()));
  const made = await place.kube.create(PODS, pod(namespace));
  const { object } = await place.kube.create(SERVICES, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: 's3' },
    spec: { selector: { app: 's3' }, ports: [{ port: PORT }] },
  });
  const url = `http://${String(Object(object['spec']).clusterIP)}:${PORT}`;
  const given = { ...KEYS, sessionToken: undefined };
  const settings = settingsFor(url, { credentials: { given } });
  await makeBucket(new Transport(BUCKET, settings, { silenceMs: 2_000 }));
  const endpoint = `http://s3.${namespace}.svc:${PORT}`;
  return { endpoint, bucket: openBucket(BUCKET, settings), podUid: made.object.metadata.uid };
}

/** As soon as somebody answers. */
async function makeBucket(transport: Transport): Promise<void> {
  let last: unknown;
  try {
    await until(
      'the storage to answer',
      async () => {
        const request = { method: 'PUT', what: `Making bucket ${BUCKET}` } as const;
        const made = await transport.send(request).catch((error: unknown) => (last = error));
        return !(made instanceof Error);
      },
      READY_WITHIN_MS,
    );
  } catch (cause) {
    throw new Error(`it says ${String(last)}`, { cause });
  } finally {
    await transport.close();
  }
}

function pod(namespace: string) {
  const keys = [`--access=${KEYS.accessKeyId}`, `--secret=${KEYS.secretAccessKey}`];
  const disks = ['objects', 'sidecar'];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name: 's3', labels: { app: 's3' } },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      securityContext: {
        runAsUser: 1234,
        runAsGroup: 1234,
        fsGroup: 1234,
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 's3',
          image: IMAGE,
          args: [`--port=:${PORT}`, ...keys, '--quiet', 'posix', '--sidecar=/sidecar', '/objects'],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: disks.map((name) => ({ name, mountPath: `/${name}` })),
        },
      ],
      volumes: disks.map((name) => ({ name, emptyDir: {} })),
    },
  };
}
