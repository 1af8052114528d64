// Parses an event: the object that it carries, and the resource of the feed that it belongs to. An
// event is only a claim. confirm-event.ts asks the API server whether it is true, unless senders
// show tokens; the next sweep does so in any case.
import { quoted } from '../../shared/cut.ts';
import { Failure } from '../../shared/errors.ts';
import type { IncomingEvent } from '../../shared/function/define.ts';
import { DELETED } from '../../shared/function/sources.ts';
import { isRecord } from '../../shared/kube/json.ts';
import { apiVersionOf, type KubeObject } from '../../shared/kube/objects.ts';
import type { Feed, ShownResource } from './feed.ts';
import type { Observation } from './observation.ts';

const REVISION = /^[1-9]\d{0,19}$/;

export function objectIn({ data }: IncomingEvent): KubeObject {
  const { kind, apiVersion, metadata } = isRecord(data) ? data : {};
  if (typeof kind !== 'string' || typeof apiVersion !== 'string' || !isRecord(metadata)) {
    const message = 'The event does not carry its object; its source must be in Resource mode.';
    throw new Failure('FEED_OBJECT_MISSING', message, { field: 'data' });
  }
  const { name, uid, resourceVersion, creationTimestamp, namespace = '' } = metadata;
  if (!isName(name)) throw broken(kind, 'metadata.name', 'is not the name of an object');
  if (namespace !== '' && !isName(namespace)) {
    throw broken(kind, 'metadata.namespace', 'is not the name of a namespace');
  }
  if (typeof uid !== 'string' || uid === '') throw broken(kind, 'metadata.uid', 'is missing');
  if (typeof resourceVersion !== 'string' || !REVISION.test(resourceVersion)) {
    throw broken(kind, 'metadata.resourceVersion', 'is not a revision');
  }
  if (typeof (creationTimestamp ?? '') !== 'string') {
    throw broken(kind, 'metadata.creationTimestamp', 'is not a time');
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is relied on was looked at
  return data as KubeObject;
}

/**
 * A name that may be a segment of a URL path. Names of RBAC objects may hold capitals, colons and
 * blanks.
 */
export const isName = (value: unknown): value is string =>
  typeof value === 'string' && !/[/%]|^\.{0,2}$/.test(value);

function broken(kind: string, path: string, problem: string): Failure {
  const message = `The ${quoted(kind)} in the event cannot be published: ${path} ${problem}.`;
  return new Failure('FEED_OBJECT_BROKEN', message, { field: `data.${path}` });
}

/** Undefined when the feed does not show this kind. */
export async function observationIn(
  event: IncomingEvent,
  object: KubeObject,
  { resources }: Feed,
  resourceFor: ResourceFor,
): Promise<Observation | undefined> {
  const resource =
    resources.find((one) => shows(one, object)) ??
    (await foreignResource(resources, object, resourceFor));
  if (resource === undefined) return undefined;
  const { resourceVersion } = object.metadata;
  return { resource, object, isGone: event.type === DELETED, resourceVersion };
}

type ResourceFor = (
  apiVersion: string,
  kind: string,
) => Promise<{ readonly resource: string; readonly isNamespaced: boolean } | undefined>;

function shows(resource: ShownResource, object: KubeObject): boolean {
  const isKind = resource.kind === object.kind && isOfGroup(resource, object);
  return isKind && resource.isNamespaced === (object.metadata.namespace !== undefined);
}

/**
 * Events name kinds, feeds name resources. For kinds that are not built in, discovery knows which
 * resource a kind is.
 */
async function foreignResource(
  resources: readonly ShownResource[],
  object: KubeObject,
  resourceFor: ResourceFor,
): Promise<ShownResource | undefined> {
  const candidates = resources.filter((one) => one.kind === undefined && isOfGroup(one, object));
  if (candidates.length === 0) return undefined;
  const found = await resourceFor(object.apiVersion, object.kind);
  if (found?.isNamespaced !== (object.metadata.namespace !== undefined)) return undefined;
  return candidates.find(({ ref }) => ref.resource === found.resource);
}

function isOfGroup({ ref }: ShownResource, { apiVersion }: KubeObject): boolean {
  return apiVersion === apiVersionOf(ref);
}
