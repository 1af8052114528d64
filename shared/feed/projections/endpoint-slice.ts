// An endpoint slice, cut by node: its head says which nodes hold a part of it and keeps the
// endpoints that are on none; each part goes to the node it is about.
import type { EndpointMessage } from '../messages.ts';
import { portsIn } from './node-and-service.ts';
import type { Aspect, SourceObject } from './source.ts';
import {
  fieldsIn,
  flagIn,
  listIn,
  said,
  textIn,
  textMapIn,
  textsIn,
  unlessEmpty,
} from './values.ts';

const SERVICE_LABEL = 'kubernetes.io/service-name';

export interface Cut {
  readonly head: Aspect;
  readonly parts: readonly (Aspect & { readonly node: string })[];
}

export function cutByNode(slice: SourceObject): Cut {
  const byNode = Map.groupBy(listIn(slice['endpoints']).map(fieldsIn), ({ nodeName }) =>
    textIn(nodeName),
  );
  const nodes = [...byNode.keys()].filter((node) => node !== undefined).toSorted();
  const shared = said<Aspect>({
    service: textIn(slice.metadata.labels?.[SERVICE_LABEL]),
    addressType: textIn(slice['addressType']),
    ports: portsIn(slice['ports']),
  });
  const head = said<Aspect>({
    labels: textMapIn(slice.metadata.labels),
    ...shared,
    nodes: unlessEmpty(nodes),
    endpoints: endpointsOf(byNode.get(undefined)),
  });
  const parts = nodes.map((node) => ({
    node,
    ...said<Aspect>({ ...shared, endpoints: endpointsOf(byNode.get(node)) }),
  }));
  return { head, parts };
}

type Entry = Readonly<Record<string, unknown>>;

function endpointsOf(entries: readonly Entry[] = []): readonly EndpointMessage[] | undefined {
  const sorted = entries
    .map(endpointOf)
    .map((endpoint) => ({ endpoint, rank: [...endpoint.ips, endpoint.pod?.name].join(' ') }))
    .toSorted((a, b) => compare(a.rank, b.rank));
  return unlessEmpty(sorted.map(({ endpoint }) => endpoint));
}

/**
 * Leaves out a condition that has the value Kubernetes assumes without it: serving as ready, and
 * not terminating.
 */
function endpointOf({ addresses, conditions, targetRef }: Entry): EndpointMessage {
  const { ready, serving, terminating } = fieldsIn(conditions);
  return said<EndpointMessage>({
    ips: textsIn(listIn(addresses)) ?? [],
    ready: flagIn(ready),
    serving: serving === ready ? undefined : flagIn(serving),
    terminating: terminating === true ? true : undefined,
    pod: podOf(fieldsIn(targetRef)),
  });
}

function podOf({ kind, name, uid }: Entry): EndpointMessage['pod'] {
  const podName = textIn(name);
  if (kind !== 'Pod' || podName === undefined) return undefined;
  return { name: podName, uid: textIn(uid) ?? '' };
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
