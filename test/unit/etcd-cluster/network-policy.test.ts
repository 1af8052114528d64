// Access to the members under the policy that is made for them, read as Kubernetes reads it.
import { expect, test } from 'vitest';
import type { Cluster } from '../../../functions/etcd-cluster/cluster.ts';
import { render } from '../../../functions/etcd-cluster/render.ts';
import { fresh, made, OLD } from './joining-samples.ts';
import { state } from './samples.ts';

type Labels = Readonly<Record<string, string>>;
interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: 'Exists' }[];
}
interface Spec {
  readonly ingress: readonly {
    readonly ports: readonly { readonly port: number }[];
    readonly from?: readonly {
      readonly namespaceSelector?: Selector;
      readonly podSelector?: Selector;
    }[];
  }[];
}

const fits = (labels: Labels, { matchLabels = {}, matchExpressions = [] }: Selector = {}) =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key }) => Object.hasOwn(labels, key));

const { cluster } = state();
const { namespace } = cluster;
const member = { 'ballast.dev/etcd-cluster': cluster.name };
const backup = { 'ballast.dev/etcd-backup': 'now' };
const keeper = { 'serving.knative.dev/service': 'etcd-cluster' };
const CALLERS: Readonly<Record<string, { namespace: string; pod: Labels; marked?: Labels }>> = {
  member: { namespace, pod: member },
  'pod of a backup': { namespace, pod: backup },
  'pod of before': { namespace, pod: { app: 'etcd', etcd_cluster: 'old' } },
  'pod of before elsewhere': { namespace: 'bank', pod: { etcd_cluster: 'old' } },
  'pod of another one': { namespace, pod: { etcd_cluster: 'other' } },
  'pod beside them': { namespace, pod: { app: 'web' } },
  'pod of a backup elsewhere': { namespace: 'bank', pod: backup },
  'our function': { namespace: 'ballast-system', pod: keeper },
  'somebody with its label': { namespace: 'bank', pod: keeper },
  scraper: { namespace: 'metrics', pod: {}, marked: { 'ballast.dev/may-scrape': 'true' } },
};

/** The pods that reach the port. */
function through(
  networkPolicy: 'Open' | 'Closed',
  port: number,
  of: Cluster = cluster,
): readonly string[] {
  const spec = { ...of.spec, networkPolicy };
  const none = { clients: undefined, peers: undefined };
  const parts = render({ ...of, spec }, none);
  const manifest = parts.find(({ key }) => key === 'networkPolicy')?.manifest;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the API server takes it
  const { ingress } = Object(manifest?.['spec']) as Spec;
  const rules = ingress.filter(({ ports }) => ports.some((one) => one.port === port));
  return Object.entries(CALLERS).flatMap(([name, caller]) => {
    const own = { 'kubernetes.io/metadata.name': caller.namespace, ...caller.marked };
    const isIn = rules.some(
      ({ from }) =>
        from === undefined ||
        from.some(({ namespaceSelector, podSelector }) => {
          const isThere =
            namespaceSelector === undefined
              ? caller.namespace === namespace
              : fits(own, namespaceSelector);
          return isThere && fits(caller.pod, podSelector);
        }),
    );
    return isIn ? [name] : [];
  });
}

test.each<['Open' | 'Closed', number, readonly string[]]>([
  ['Open', 2379, Object.keys(CALLERS)],
  ['Closed', 2379, ['member', 'pod of a backup', 'our function']],
  ['Open', 2380, ['member']],
  ['Closed', 2380, ['member']],
  ['Open', 2381, ['scraper']],
  ['Closed', 2381, ['scraper']],
])('%s: port %i is reached by these alone', (networkPolicy, port, callers) => {
  expect(through(networkPolicy, port)).toEqual(callers);
});

const tls = { clients: { mode: 'Mutual' }, peers: { mode: 'Mutual' } } as const;

test.each<[what: string, of: Cluster, isIn: boolean]>([
  ['before the first one is known', state(fresh()).cluster, true],
  [
    'while one of them is counted',
    state(made({ status: { joining: OLD.slice(2) } })).cluster,
    true,
  ],
  ['when all have left', state(made()).cluster, false],
  ['where members have TLS', state(fresh({ spec: { tls } })).cluster, false],
  [
    'where nobody can read it',
    state(fresh({ annotations: { 'ballast.dev/etcd-joins': '[]' } })).cluster,
    false,
  ],
])('members of before reach port 2380: %s', (_, of, isIn) => {
  expect(through('Closed', 2380, of)).toEqual(['member', ...(isIn ? ['pod of before'] : [])]);
  expect(through('Closed', 2379, of)).not.toContain('pod of before');
});
