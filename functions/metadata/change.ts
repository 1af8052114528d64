// Which object an event is about, and what it says of it. The event's word is taken until the next
// sweep: it is compared with what stands, and with nothing else.
import { Failure } from '../../shared/errors.ts';
import type { IncomingEvent } from '../../shared/function/define.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Feed, ShownResource } from './feed.ts';
import type { Look } from './sight.ts';

export const CHANGES = ['add', 'update', 'delete'].map(
  (verb) => `dev.knative.apiserver.resource.${verb}`,
);
const DELETE = 'dev.knative.apiserver.resource.delete';

/** As the API server takes them; RBAC objects may have colons. */
const NAME = /^[a-z0-9]([-a-z0-9.:]*[a-z0-9])?$/;
const NAME_LENGTH_MAX = 253;
const REVISION = /^[1-9]\d{0,19}$/;

export function objectOf({ data }: IncomingEvent): KubeObject {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- looked at field by field below
  const object = data as Partial<KubeObject> | null | undefined;
  const { kind, apiVersion, metadata } = typeof object === 'object' && object ? object : {};
  if (typeof kind !== 'string' || typeof apiVersion !== 'string' || metadata === undefined) {
    const message = 'The event does not carry its object; its source must be in Resource mode.';
    throw new Failure('FEED_OBJECT_MISSING', message, { field: 'data' });
  }
  const { name, uid, resourceVersion, namespace = '' } = metadata;
  if (!isName(name)) throw broken(kind, 'metadata.name', 'is not the name of an object');
  if (namespace !== '' && !isName(namespace)) {
    throw broken(kind, 'metadata.namespace', 'is not the name of a namespace');
  }
  if (typeof uid !== 'string' || uid === '') throw broken(kind, 'metadata.uid', 'is missing');
  if (typeof resourceVersion !== 'string' || !REVISION.test(resourceVersion)) {
    throw broken(kind, 'metadata.resourceVersion', 'is not a revision');
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its identity was looked at
  return object as KubeObject;
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= NAME_LENGTH_MAX && NAME.test(value);

function broken(kind: string, path: string, problem: string): Failure {
  const message = `The ${kind} in the event cannot be published: ${path} ${problem}.`;
  return new Failure('FEED_OBJECT_BROKEN', message, { field: `data.${path}` });
}

/** Undefined when the feed shows no such kind. */
export function lookOf(event: IncomingEvent, object: KubeObject, feed: Feed): Look | undefined {
  const resource = feed.resources.find((one) => shows(one, object));
  if (resource === undefined) return undefined;
  const { resourceVersion } = object.metadata;
  return { resource, object, isGone: event.type === DELETE, resourceVersion };
}

/** Events name kinds and not resources; of kinds of others only the sweep knows which is which. */
function shows({ ref, kind, isNamespaced }: ShownResource, object: KubeObject): boolean {
  const [group, version] = object.apiVersion.includes('/')
    ? object.apiVersion.split('/')
    : ['', object.apiVersion];
  const isKind = kind === object.kind && ref.group === group && ref.version === version;
  return isKind && isNamespaced === (object.metadata.namespace !== undefined);
}
