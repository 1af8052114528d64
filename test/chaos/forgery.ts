// Events that say what the API server never said. Each looks like an event of the adapter, and
// passes every check that an event can pass.
import { randomUUID } from 'node:crypto';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Random } from './random.ts';

export interface RelayedEvent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A cluster of this size needs years to count so far. */
const FUTURE = 1_000_000_000;
const TYPE = 'dev.knative.apiserver.resource';

const objectIn = ({ body }: RelayedEvent): KubeObject => JSON.parse(body) as KubeObject;

/** `Pod default/p1` */
export function nameOf(event: RelayedEvent): string {
  const { kind, metadata } = objectIn(event);
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}

type Lie = (object: KubeObject, random: Random) => KubeObject;

const withMeta = (object: KubeObject, more: Readonly<Record<string, unknown>>): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, ...more },
});

const later = ({ metadata }: KubeObject, by: number): string =>
  String(Number(metadata.resourceVersion) + by);

interface Told {
  readonly verb: string;
  readonly lie: Lie;
}

/** About where the object stands, or about a name that nobody has. */
const LIES: readonly Told[] = [
  {
    verb: 'update',
    lie: (object) =>
      withMeta(object, { resourceVersion: later(object, FUTURE), labels: { forged: 'future' } }),
  },
  {
    verb: 'update',
    lie: (object) =>
      withMeta(object, { resourceVersion: later(object, 1), labels: { forged: 'next' } }),
  },
  {
    verb: 'add',
    lie: (object) => withMeta(object, { name: `${object.metadata.name}-ghost`, uid: randomUUID() }),
  },
  { verb: 'delete', lie: (object) => object },
];

/** An object of that name is somewhere else, is another one, or is gone for good. */
const MISPLACED: readonly Told[] = [
  {
    verb: 'delete',
    lie: (object) => withMeta(object, { resourceVersion: later(object, FUTURE) }),
  },
  { verb: 'add', lie: (object) => withMeta(object, { uid: randomUUID() }) },
  {
    verb: 'update',
    lie: (object, random) => ({
      ...withMeta(object, { resourceVersion: later(object, 2) }),
      spec: { ...(object['spec'] as object | undefined), nodeName: `n${random.between(0, 6)}` },
    }),
  },
];

/** Undefined for what decides about the feed itself. */
export function forge(
  event: RelayedEvent,
  about: 'forge' | 'misplace',
  random: Random,
): RelayedEvent | undefined {
  const object = objectIn(event);
  const { verb, lie } = random.pick(about === 'forge' ? LIES : MISPLACED);
  if (object.kind === 'MetadataFeed') return undefined;
  return {
    headers: { ...event.headers, 'ce-id': randomUUID(), 'ce-type': `${TYPE}.${verb}` },
    body: JSON.stringify(lie(object, random)),
  };
}
