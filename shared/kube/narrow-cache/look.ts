// One look at one object, as long as its connection lasts: first what there is, then each change.
// In one request where the API server sends initial events, else by a list and a watch from there.
// It asks by the name alone, so a role with that resourceName is enough.
import type { KubeClient } from '../client.ts';
import { isKubeError } from '../errors.ts';
import type { KubeObject, ObjectName, ResourceRef } from '../objects.ts';
import type { WatchEvent } from '../watch.ts';
import type { Held } from './held.ts';
import { keep } from './keep.ts';

export type Kube = Pick<KubeClient, 'get' | 'list' | 'watchOnce'>;

/** As in `get`: without namespace for what belongs to none. */
export type Name = Omit<ObjectName, 'subresource'>;

/** The one object that an entry of the cache is about. */
export interface Target extends Name {
  readonly ref: ResourceRef;
}

/** The first sight is `whole`; `mark` says that nothing else happened up to its version. */
export interface Sight extends Held {
  readonly kind: 'whole' | 'change' | 'mark';
}

export async function* lookByInitialEvents(
  kube: Kube,
  target: Target,
  signal: AbortSignal,
): AsyncGenerator<Sight, void, undefined> {
  let found: KubeObject | null = null;
  let isWhole = false;
  const watch = kube.watchOnce(target.ref, {
    ...selection(target),
    from: 'initial-events',
    signal,
  });
  for await (const event of watch) {
    if (isWhole) yield* sightsOf(event, target);
    else if (event.type === 'BOOKMARK' && event.isInitialEventsEnd) {
      isWhole = true;
      yield { kind: 'whole', object: found, version: event.resourceVersion };
      // Whoever keeps it has it; here it would outlive its changes.
      found = null;
    } else {
      for (const { kind, object } of sightsOf(event, target)) {
        if (kind === 'change') found = object;
      }
    }
  }
}

export async function* lookByList(
  kube: Kube,
  target: Target,
  signal: AbortSignal,
  timeoutMs: number,
): AsyncGenerator<Sight, void, undefined> {
  const first = await listOne(kube, target, signal, timeoutMs);
  yield { kind: 'whole', ...first };
  const from = { resourceVersion: first.version };
  const watch = kube.watchOnce(target.ref, { ...selection(target), from, signal });
  for await (const event of watch) yield* sightsOf(event, target);
}

/** As it is now. A list tells the version of an absence too, which a GET does not. */
export async function listOne(
  kube: Kube,
  target: Target,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Held> {
  const list = await kube.list(target.ref, { ...selection(target), signal, timeoutMs });
  const found = list.items.find((item) => isOf(target, item));
  return {
    object: found === undefined ? null : keep(found),
    version: list.metadata.resourceVersion,
  };
}

/**
 * As it is now, for a role that may only get. Undefined for an absence, of which nobody says as of
 * when.
 */
export async function getOne(
  kube: Kube,
  { ref, namespace, name }: Target,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Held | undefined> {
  const at = { name, ...(namespace === undefined ? {} : { namespace }) };
  const object = await kube.get(ref, at, { signal, timeoutMs });
  if (object === null) return undefined;
  return { object: keep(object), version: object.metadata.resourceVersion };
}

/** As it is now, by what the role allows. */
export async function readOne(
  kube: Kube,
  target: Target,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<KubeObject | null> {
  try {
    return (await listOne(kube, target, signal, timeoutMs)).object;
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
    return (await getOne(kube, target, signal, timeoutMs))?.object ?? null;
  }
}

const selection = ({ namespace, name }: Target) => ({
  ...(namespace === undefined ? {} : { namespace }),
  fieldSelector: `metadata.name=${name.replaceAll(/[\\,=]/g, '\\$&')}`,
});

/** An aggregated API server may not know the selector, and send every object it has. */
const isOf = ({ name }: Target, { metadata }: KubeObject): boolean => metadata.name === name;

function* sightsOf(event: WatchEvent, target: Target): Generator<Sight, void, undefined> {
  // A single connection never begins again.
  if (event.type === 'RESTART') return;
  if (event.type === 'BOOKMARK') {
    yield { kind: 'mark', object: null, version: event.resourceVersion };
  } else if (isOf(target, event.object)) {
    const { resourceVersion: version } = event.object.metadata;
    const object = event.type === 'DELETED' ? null : keep(event.object);
    yield { kind: 'change', object, version };
  }
}
