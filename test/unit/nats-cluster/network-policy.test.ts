// Access to the servers under the policy that is made for them, read as Kubernetes reads it.
import { expect, test } from 'vitest';
import { networkPolicySpec } from '../../../functions/nats-cluster/render/network-policy.ts';
import { render } from '../../../functions/nats-cluster/render/manifests.ts';
import { cluster, CREDENTIALS } from './samples.ts';

type Labels = Readonly<Record<string, string>>;
interface Selector {
  readonly matchLabels: Labels;
}
interface Peer {
  readonly namespaceSelector?: Selector;
  readonly podSelector?: Selector;
}
interface Spec {
  readonly podSelector: Selector;
  readonly policyTypes: readonly string[];
  readonly ingress: readonly {
    readonly ports: readonly { readonly protocol: string; readonly port: number }[];
    readonly from?: readonly Peer[];
  }[];
}
interface Caller {
  readonly namespace: string;
  /** Labels of that namespace, beside its name. */
  readonly marked?: Labels;
  readonly pod: Labels;
}

const fits = (labels: Labels, { matchLabels }: Selector): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value);

/** Without a selector of namespaces it is about the policy's own. */
function isPeer({ namespace, marked, pod }: Caller, peer: Peer): boolean {
  const { namespaceSelector, podSelector } = peer;
  const own = { 'kubernetes.io/metadata.name': namespace, ...marked };
  const isThere =
    namespaceSelector === undefined ? namespace === 'shop' : fits(own, namespaceSelector);
  return isThere && (podSelector === undefined || fits(pod, podSelector));
}

const server = (name: string): Labels => ({ 'ballast.dev/nats-cluster': name });
const CALLERS: Readonly<Record<string, Caller>> = {
  sibling: { namespace: 'shop', pod: server('nats') },
  'server of another cluster': { namespace: 'shop', pod: server('other') },
  'server of its namesake elsewhere': { namespace: 'bank', pod: server('nats') },
  'pod beside it': { namespace: 'shop', pod: { app: 'web' } },
  'pod elsewhere': { namespace: 'bank', pod: { app: 'web' } },
  'our function': {
    namespace: 'ballast-system',
    pod: { 'serving.knative.dev/service': 'nats-cluster' },
  },
  'the function takeover': {
    namespace: 'ballast-system',
    pod: { 'serving.knative.dev/service': 'takeover' },
  },
  'somebody with its label': {
    namespace: 'bank',
    pod: { 'serving.knative.dev/service': 'nats-cluster' },
  },
  scraper: { namespace: 'metrics', marked: { 'ballast.dev/may-scrape': 'true' }, pod: {} },
};

/** The pods that reach the port. */
function through(
  networkPolicy: 'Open' | 'Closed',
  port: number,
  labels: Labels = {},
): readonly string[] {
  const made = cluster({ spec: { networkPolicy, monitoringPort: 8223 } });
  const metadata = { ...made.object.metadata, labels };
  const own = { ...made, object: { ...made.object, metadata } };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the API server takes it
  const { podSelector, policyTypes, ingress } = networkPolicySpec(own)['spec'] as Spec;
  expect([podSelector, policyTypes]).toEqual([{ matchLabels: server('nats') }, ['Ingress']]);
  const rules = ingress.filter(({ ports }) => ports.some((one) => one.port === port));
  return Object.entries(CALLERS).flatMap(([name, caller]) =>
    rules.some(({ from }) => from === undefined || from.some((peer) => isPeer(caller, peer)))
      ? [name]
      : [],
  );
}

test.each<['Open' | 'Closed', number, readonly string[]]>([
  ['Open', 4222, Object.keys(CALLERS)],
  ['Closed', 4222, ['our function']],
  ['Open', 6222, ['sibling']],
  ['Closed', 6222, ['sibling']],
  ['Open', 8223, ['scraper']],
  ['Closed', 8223, ['scraper']],
  ['Open', 8222, []],
])('%s: port %i is reached by these alone', (networkPolicy, port, peers) => {
  expect(through(networkPolicy, port)).toEqual(peers);
});

test('one that is made for a Takeover tells that how many clients it has', () => {
  const labels = { 'ballast.dev/takeover': 'over' };
  expect(through('Open', 8223, labels)).toEqual(['the function takeover', 'scraper']);
  expect(through('Closed', 4222, labels)).toEqual(['our function']);
});

test.each([
  ['Open', ['nats']],
  ['None', []],
] as const)('%s: policies that are made', (networkPolicy, names) => {
  const shape = { size: 3, accessMode: 'ReadWriteOncePod' } as const;
  const { parts } = render(cluster({ spec: { networkPolicy } }), CREDENTIALS, shape);
  const made = parts.filter(({ manifest }) => manifest.kind === 'NetworkPolicy');
  expect(made.map(({ manifest }) => manifest.metadata.name)).toEqual(names);
});
