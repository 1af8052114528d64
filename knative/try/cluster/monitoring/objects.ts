// A Prometheus in a pod of its own, with the rules of `knative/alerts`: it keeps its series for as
// long as the pod is there.
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { isRecord } from '../../../../shared/kube/json.ts';
import type { Manifest } from '../../../../shared/kube/objects.ts';
import { partEntry } from '../../local/parts/catalog.ts';
import { containerSecurity, podSecurity } from '../extra-pod.ts';

const PORT = 9090;
const NAME = 'prometheus';
/** The functions are there. */
const OURS = 'ballast-system';
const RULE = resolve(import.meta.dirname, '../../../alerts/prometheus-rule.yaml');
const CONFIG = join(import.meta.dirname, 'prometheus.yaml');

export const PROMETHEUS = {
  part: 'prometheus',
  image: `dev.local/ballast/prometheus:${partEntry('prometheus').version}`,
} as const;

export interface Given {
  /** As Prometheus reads them. */
  readonly config: string;
  readonly rules: string;
}

export const urlIn = (namespace: string): string => `http://${NAME}.${namespace}.svc:${PORT}`;

export const podIn = (namespace: string) => ({ namespace, name: NAME }) as const;

/** Those that ship. */
export async function givenAsShipped(): Promise<Given> {
  const rule: unknown = parse(await readFile(RULE, 'utf8'));
  const rules = stringify(isRecord(rule) ? rule['spec'] : undefined);
  return { config: await readFile(CONFIG, 'utf8'), rules };
}

export const monitoringObjects = (namespace: string, given: Given): readonly Manifest[] => [
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace, labels: { 'ballast.dev/may-scrape': 'true' } },
  },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: podIn(namespace) },
  ...rights(namespace),
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: podIn(namespace),
    data: { 'prometheus.yaml': given.config, 'rules.yaml': given.rules },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: podIn(namespace),
    spec: { selector: { app: NAME }, ports: [{ port: PORT }] },
  },
  pod(namespace),
];

/** It finds pods of ours, and reads nothing else. */
function rights(namespace: string): readonly Manifest[] {
  const metadata = { namespace: OURS, name: NAME };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const rule = { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] };
  return [
    { apiVersion, kind: 'Role', metadata, rules: [rule] },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: NAME },
      subjects: [{ kind: 'ServiceAccount', ...podIn(namespace) }],
    },
  ];
}

const pod = (namespace: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { ...podIn(namespace), labels: { app: NAME } },
  spec: {
    serviceAccountName: NAME,
    terminationGracePeriodSeconds: 0,
    securityContext: podSecurity,
    containers: [container],
    volumes: [
      { name: 'config', configMap: { name: NAME } },
      { name: 'data', emptyDir: {} },
    ],
  },
});

const container = {
  name: NAME,
  image: PROMETHEUS.image,
  args: [
    '--config.file=/config/prometheus.yaml',
    '--storage.tsdb.path=/data',
    `--web.listen-address=:${PORT}`,
  ],
  ports: [{ name: 'http', containerPort: PORT }],
  readinessProbe: { httpGet: { path: '/-/ready', port: PORT }, periodSeconds: 1 },
  resources: { requests: { cpu: '10m', memory: '128Mi' } },
  securityContext: containerSecurity,
  volumeMounts: [
    { name: 'config', mountPath: '/config', readOnly: true },
    { name: 'data', mountPath: '/data' },
  ],
};
