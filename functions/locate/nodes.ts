// `/nodes`: the nodes that run the pods of a workload, a service, a namespace or a selector.
import type { Entry } from '../../shared/nats/replica/entry.ts';
import type { Query } from './query.ts';
import { invalid } from './query.ts';
import { notFound } from './not-found.ts';
import { IN, NAMESPACE, SELECTOR, WORKLOADS } from './parameters.ts';
import type { Result, QueryRoute, Observation } from './query-route.ts';
import { COUNT, STRING, listOf, record } from './schema.ts';

interface OnNode {
  readonly node: string;
  readonly pods: number;
  readonly ready: number;
  readonly names: readonly string[];
}

export const NODES: QueryRoute = {
  method: 'GET',
  path: '/nodes',
  summary: 'which nodes run a workload, with its pods per node',
  choice: [...WORKLOADS.map(([, parameter]) => parameter), NAMESPACE, SELECTOR],
  optional: [IN],
  isSearch: true,
  answers: record({
    of: { ...STRING, description: 'what was asked about' },
    pods: { ...COUNT, description: 'that are not done, with and without a node' },
    unscheduled: COUNT,
    done: { ...COUNT, description: 'pods that succeeded or failed, which no node runs any more' },
    nodes: listOf(record({ node: STRING, pods: COUNT, ready: COUNT, names: listOf(STRING) })),
  }),
  answer: (query, observation) => {
    const [of, pods] = podsFor(query, observation);
    return perNode(of, pods, query.get(SELECTOR) !== undefined);
  },
};

function podsFor(
  query: Query,
  observation: Observation,
): readonly [of: string, pods: readonly Entry[]] {
  const { catalog } = observation;
  const labels = query.get(SELECTOR);
  const within = query.get(IN);
  if (labels !== undefined) {
    const among = { resource: 'pods', ...(within === undefined ? {} : { namespace: within }) };
    const pods = [...catalog.select({ ...among, labels })];
    const where = within === undefined ? '' : ` in ${within}`;
    if (pods.length > 0) return [`pods by labels${where}`, pods];
    throw notFound({ subject: 'pod with such labels', field: SELECTOR.name, among }, observation);
  }
  if (within !== undefined) {
    throw invalid(IN.name, `The parameter ${IN.name} narrows a selector, and there is none.`);
  }
  const namespace = query.get(NAMESPACE);
  if (namespace !== undefined) return [`namespace ${namespace}`, podsIn(namespace, observation)];
  for (const [resource, parameter] of WORKLOADS) {
    const name = query.get(parameter);
    if (name === undefined) continue;
    const subject = `${parameter.name} ${name.namespace}/${name.name}`;
    const key = { resource, ...name };
    if (catalog.find(key) !== undefined) return [subject, catalog.podsOf(key)];
    const among = { resource, namespace: name.namespace };
    throw notFound({ subject, field: parameter.name, among }, observation);
  }
  return ['nothing', []];
}

function podsIn(name: string, observation: Observation): readonly Entry[] {
  const key = { resource: 'namespaces', namespace: '', name };
  const pods = observation.catalog.podsOf(key);
  if (pods.length > 0 || observation.catalog.find(key) !== undefined) return pods;
  const among = { resource: 'namespaces' };
  throw notFound({ subject: `namespace ${name}`, field: NAMESPACE.name, among }, observation);
}

const isDone = ({ object }: Entry): boolean =>
  object.phase === 'Succeeded' || object.phase === 'Failed';

function perNode(of: string, all: readonly Entry[], hasManyNamespaces: boolean): Result {
  const pods = all.filter((pod) => !isDone(pod));
  const nodes = new Map<string, OnNode>();
  let unscheduled = 0;
  const byNode = Map.groupBy(pods, ({ object }) => object.node ?? '');
  for (const [node, there] of byNode) {
    if (node === '') unscheduled = there.length;
    else nodes.set(node, onNode(node, there, hasManyNamespaces));
  }
  const rows = [...nodes.values()].toSorted(
    (a, b) => b.pods - a.pods || Number(a.node > b.node) - Number(a.node < b.node),
  );
  const head = { of, pods: pods.length, unscheduled, done: all.length - pods.length };
  // A node may run a hundred of them: too many for a cell of a table.
  const shown = rows.map(({ node, pods: count, ready }) => ({ node, pods: count, ready }));
  return { body: { ...head, nodes: rows }, shown: { ...head, nodes: shown } };
}

function onNode(node: string, there: readonly Entry[], hasManyNamespaces: boolean): OnNode {
  const nameOf = ({ key }: Entry): string =>
    hasManyNamespaces ? `${key.namespace}/${key.name}` : key.name;
  return {
    node,
    pods: there.length,
    ready: there.filter(({ object }) => object.ready === true).length,
    names: there.map(nameOf).toSorted(),
  };
}
