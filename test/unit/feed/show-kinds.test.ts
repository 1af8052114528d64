// A feed's messages about nodes, services, workloads and kinds of others, row by row.
import { expect, test } from 'vitest';
import { BUILT_IN } from '../../../shared/feed/projections/built-in.ts';
import { show } from '../../../shared/feed/projections/show.ts';
import { parseSubject } from '../../../shared/feed/subjects.ts';
import { object, plan } from './objects.ts';

type Parts = Readonly<Record<string, unknown>>;

/** The fields beyond the identity that all kinds have. */
function aspect(resource: string, rest: Parts, metadata: Parts = {}): Parts {
  const [shown, ...more] = show(resource, object('Widget', metadata, rest), plan);
  if (shown === undefined || more.length > 0) throw new Error('shown once');
  const { epoch, kind, namespace, name, uid, resourceVersion, ...said } = shown.message;
  const identity = { epoch, namespace, name, uid, resourceVersion };
  const expected = { namespace: 'web', name: 'a', uid: 'uid-1', resourceVersion: '7' };
  expect(identity).toEqual({ epoch: 1, ...expected });
  expect(kind).toBe(BUILT_IN.find((row) => row.resource === resource)?.kind ?? 'Widget');
  return said;
}

const addresses = [
  { type: 'InternalIP', address: '10.0.0.1' },
  { type: 'InternalIP', address: 'fd00::1' },
  { type: 'Hostname', address: 'n1' },
  { type: 'ExternalIP', address: '192.0.2.1' },
];
const selector = { matchLabels: { b: '2', a: '1' } };
const ports = [
  { name: 'http', port: 80, protocol: 'TCP', targetPort: 'web', nodePort: 30_080 },
  { name: 'dns', port: 53, protocol: 'UDP', targetPort: 5_353 },
];
const shownPorts = [
  { name: 'http', port: 80, target: 'web' },
  { name: 'dns', port: 53, protocol: 'UDP', target: 5_353 },
];
const condition = (type: string, status = 'True'): Parts => ({ conditions: [{ type, status }] });

const rows: readonly (readonly [string, string, Parts, Parts])[] = [
  [
    'a dual-stack node',
    'nodes',
    { status: { ...condition('Ready'), addresses } },
    { ready: true, ips: ['10.0.0.1', 'fd00::1', '192.0.2.1'] },
  ],
  ['a node that is lost', 'nodes', { status: condition('Ready', 'Unknown') }, { ready: false }],
  [
    'a cordoned node',
    'nodes',
    { spec: { unschedulable: true } },
    { ready: false, reason: 'Unschedulable' },
  ],
  [
    'a namespace on its way out',
    'namespaces',
    { status: { phase: 'Terminating' } },
    { phase: 'Terminating' },
  ],
  [
    'a dual-stack service',
    'services',
    {
      spec: {
        clusterIP: '10.9.0.1',
        clusterIPs: ['10.9.0.1', 'fd00::9'],
        selector: { b: '2', a: '1' },
        ports,
      },
    },
    { ips: ['10.9.0.1', 'fd00::9'], ports: shownPorts, selector: { a: '1', b: '2' } },
  ],
  ['a headless service', 'services', { spec: { clusterIP: 'None', clusterIPs: ['None'] } }, {}],
  [
    'a service of an older API server',
    'services',
    { spec: { clusterIP: '10.9.0.1' } },
    { ips: ['10.9.0.1'] },
  ],
  [
    'a balanced service',
    'services',
    {
      spec: { clusterIPs: ['10.9.0.1'], externalIPs: ['192.0.2.7'] },
      status: {
        loadBalancer: { ingress: [{ ip: '192.0.2.8' }, { hostname: 'lb' }, { ip: '192.0.2.7' }] },
      },
    },
    { ips: ['10.9.0.1', '192.0.2.7', '192.0.2.8'] },
  ],
  [
    'a deployment',
    'deployments',
    { spec: { replicas: 3, selector }, status: { replicas: 4, readyReplicas: 2 } },
    { desired: 3, selector: { a: '1', b: '2' } },
  ],
  [
    'a deployment scaled to zero',
    'deployments',
    { spec: { replicas: 0 }, status: {} },
    { desired: 0 },
  ],
  ['a replica set without status', 'replicasets', { spec: { replicas: 1 } }, { desired: 1 }],
  [
    'a stateful set',
    'statefulsets',
    { spec: { replicas: 1 }, status: { replicas: 1, readyReplicas: 1 } },
    { desired: 1 },
  ],
  [
    'a selector with expressions, of which half would be wrong',
    'deployments',
    {
      spec: {
        replicas: 1,
        selector: { ...selector, matchExpressions: [{ key: 'c', operator: 'Exists' }] },
      },
    },
    { desired: 1 },
  ],
  [
    'a daemon set',
    'daemonsets',
    {
      spec: { selector },
      status: { desiredNumberScheduled: 5, currentNumberScheduled: 4, numberReady: 3 },
    },
    { desired: 5, selector: { a: '1', b: '2' } },
  ],
  [
    'a job at work',
    'jobs',
    { spec: { completions: 5, parallelism: 2 }, status: { active: 2, succeeded: 1 } },
    { phase: 'Running', desired: 5 },
  ],
  [
    'a job with a work queue',
    'jobs',
    { spec: { completions: null, parallelism: 2 } },
    { phase: 'Running', desired: 2 },
  ],
  [
    'a job that is done',
    'jobs',
    { spec: { completions: 1 }, status: { ...condition('Complete'), succeeded: 1 } },
    { phase: 'Complete', desired: 1 },
  ],
  [
    'a job that failed while suspended',
    'jobs',
    { spec: { completions: 1, suspend: true }, status: condition('Failed') },
    { phase: 'Failed', desired: 1 },
  ],
  [
    'a suspended job',
    'jobs',
    { spec: { completions: 1, suspend: true } },
    { phase: 'Suspended', desired: 1 },
  ],
  [
    'a suspended cron job',
    'cronjobs',
    { spec: { suspend: true, schedule: '@daily' } },
    { phase: 'Suspended' },
  ],
  ['a cron job', 'cronjobs', { spec: { suspend: false } }, {}],
  ['a kind of others without named fields', 'widgets.example.com', { spec: { size: 3 } }, {}],
];

test.each(rows)('%s', (_name, resource, rest, expected) => {
  expect(aspect(resource, rest)).toStrictEqual(expected);
});

test('every kind shows its labels, in order', () => {
  const labels = { 'z.example/role': '', app: 'web' };
  for (const { resource } of [...BUILT_IN, { resource: 'widgets.example.com' }]) {
    const [first] = show(resource, object('Widget', { labels }), plan);
    const shown = `${resource} ${JSON.stringify(first?.message.labels)}`;
    expect(shown).toBe(`${resource} {"app":"web","z.example/role":""}`);
  }
});

test('every kind says its own name, also when a list left it out, and shares one place', () => {
  for (const { resource, kind, isNamespaced, ref } of BUILT_IN) {
    const metadata = { name: 'system:a.b', uid: 'u', resourceVersion: '1' };
    const inSpace = isNamespaced ? { namespace: 'web', ...metadata } : metadata;
    const [first, ...more] = show(resource, { metadata: inSpace }, plan);
    expect(first?.message.kind).toBe(kind);
    expect(ref.resource).toBe(resource);
    const place = ['pods', 'endpointslices'].includes(resource) ? 'cluster' : 'all';
    const { key } = first ?? {};
    expect(parseSubject(first?.subject ?? '')).toEqual({ place, key });
    expect(key).toEqual({ resource, namespace: isNamespaced ? 'web' : '', name: 'system:a.b' });
    expect(more).toEqual([]);
  }
});

test('the built-in kinds are where the API server has them', () => {
  const apis = BUILT_IN.map(({ ref }) => `${ref.group}/${ref.version} ${ref.resource}`);
  expect(apis).toContain('/v1 pods');
  expect(apis).toContain('discovery.k8s.io/v1 endpointslices');
  expect(apis).toContain('batch/v1 cronjobs');
});
