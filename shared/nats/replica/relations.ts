// How objects hang together: up through owners, and down to the pods that a workload, a service, a
// namespace or a node stands for.
import type { ObjectKey } from '../../feed/subjects.ts';
import type { Entry } from './entry.ts';
import { PODS, SLICES } from './indexes.ts';
import { type Selection, requireLabels, satisfies } from './selector.ts';

/** The lookups of a catalog that relations are made of. */
export interface Lookups {
  find(key: ObjectKey): Entry | undefined;
  byUid(uid: string): readonly Entry[];
  onNode(node: string): readonly Entry[];
  ownedBy(uid: string): readonly Entry[];
  slicesOf(namespace: string, service: string): readonly Entry[];
  slicesWith(podUid: string): readonly Entry[];
  select(selection: Selection): Generator<Entry>;
}

export function ownersOf(catalog: Lookups, entry: Entry): readonly Entry[] {
  const owners: Entry[] = [];
  // Nothing forbids a circle of owners.
  const seen = new Set([entry.object.uid]);
  for (let uid = entry.object.owner?.uid; uid !== undefined && !seen.has(uid);) {
    seen.add(uid);
    const [owner] = catalog.byUid(uid);
    if (owner !== undefined) owners.push(owner);
    uid = owner?.object.owner?.uid;
  }
  return owners;
}

/** Pods that are done, or have no node yet, are among them. */
export function podsOf(catalog: Lookups, key: ObjectKey): readonly Entry[] {
  if (key.resource === 'namespaces') {
    return [...catalog.select({ resource: PODS, namespace: key.name })];
  }
  if (key.resource === 'nodes') return catalog.onNode(key.name);
  const entry = catalog.find(key);
  if (entry === undefined) return [];
  if (key.resource === PODS) return [entry];
  return key.resource === 'services' ? podsOfService(catalog, entry) : podsBelow(catalog, entry);
}

/** The endpoint slices know; where the feed holds none of it, the selector has to do. */
function podsOfService(catalog: Lookups, { key, object }: Entry): readonly Entry[] {
  const slices = catalog.slicesOf(key.namespace, key.name);
  if (slices.length === 0) {
    const labels = requireLabels(object.selector ?? {});
    if (labels.length === 0) return [];
    return [...catalog.select({ resource: PODS, namespace: key.namespace, labels })];
  }
  const endpoints = slices.flatMap((slice) => slice.object.endpoints ?? []);
  const uids = new Set(endpoints.flatMap(({ pod }) => (pod === undefined ? [] : [pod.uid])));
  return [...uids].flatMap((uid) => catalog.byUid(uid)).filter(isPod);
}

/**
 * Services of a pod by endpoint slices; by selectors where the namespace has no slices, as in a
 * feed without them.
 */
export function servicesOf(catalog: Lookups, { key, object }: Entry): readonly Entry[] {
  const { namespace } = key;
  const slices = catalog.slicesWith(object.uid);
  const named = new Set(slices.flatMap(({ object: { service } }) => service ?? []));
  if (named.size > 0 || !catalog.select({ resource: SLICES, namespace }).next().done) {
    const found = [...named].map((name) => catalog.find({ resource: 'services', namespace, name }));
    return found.filter((service) => service !== undefined);
  }
  const services = catalog.select({ resource: 'services', namespace });
  return [...services].filter((service) => {
    const labels = requireLabels(service.object.selector ?? {});
    return labels.length > 0 && satisfies(object.labels ?? {}, labels);
  });
}

function podsBelow(catalog: Lookups, top: Entry): readonly Entry[] {
  const pods: Entry[] = [];
  const seen = new Set([top.object.uid]);
  const toVisit = [top.object.uid];
  for (let uid = toVisit.pop(); uid !== undefined; uid = toVisit.pop()) {
    for (const owned of catalog.ownedBy(uid)) {
      if (seen.has(owned.object.uid)) continue;
      seen.add(owned.object.uid);
      if (isPod(owned)) pods.push(owned);
      toVisit.push(owned.object.uid);
    }
  }
  return pods;
}

const isPod = ({ key }: Entry): boolean => key.resource === PODS;
