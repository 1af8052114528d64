// What one object, as it was just seen, means for the feed: what is shown of it, and which subjects
// have to be looked at to know where it stood. Pure.
import { Failure } from '../../shared/errors.ts';
import { type Shown, show } from '../../shared/feed/projections/show.ts';
import { type ObjectKey, subjectOf } from '../../shared/feed/subjects.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { DesiredState } from './decide.ts';
import { type Feed, selects, type ShownResource, showPlan } from './feed.ts';

/** Cut by node: the head of each says which nodes hold a part. */
export const SLICES = 'endpointslices';

/** An object, or the news that it is no more. */
export interface Observation {
  readonly resource: ShownResource;
  readonly object: KubeObject;
  readonly isGone: boolean;
  /** The state of the cluster in which it was seen so. */
  readonly resourceVersion: string;
  /** So large that nothing of it was read but who it is: it cannot be shown. */
  readonly isTooLarge?: boolean;
}

/** What is kept of a look: the object itself may be a thousand times larger. */
export interface Projection extends Pick<Observation, 'isGone' | 'resourceVersion'> {
  readonly plan: Placement;
  readonly isTooLarge: boolean;
  readonly resource: string;
  readonly uid: string;
  readonly createdMs: number;
}

export interface Moment {
  readonly epoch: number;
  readonly nowMs: number;
}

export interface Placement {
  readonly key: ObjectKey;
  readonly shown: readonly Shown[];
  /** Where it stands, or stood if the feed saw it before; more may be named by its head. */
  readonly subjects: readonly string[];
  /** No subject holds its name. */
  readonly isTooLong: boolean;
}

/** RBAC objects may have names of any length. */
const NAME_LENGTH_MAX = 253;

function keyOf({ name: resource }: ShownResource, { metadata }: KubeObject): ObjectKey {
  return { resource, namespace: metadata.namespace ?? '', name: metadata.name };
}

export function project(feed: Feed, look: Observation, epoch: number): Projection {
  const { resource, object, isGone, resourceVersion, isTooLarge = false } = look;
  const { uid, creationTimestamp = '' } = object.metadata;
  return {
    plan: placementOf(feed, look, epoch),
    isGone,
    isTooLarge,
    resourceVersion,
    resource: resource.name,
    uid,
    createdMs: Date.parse(creationTimestamp),
  };
}

function placementOf(feed: Feed, look: Observation, epoch: number): Placement {
  const { resource, object, isGone, isTooLarge } = look;
  const key = keyOf(resource, object);
  if (Math.max(key.name.length, key.namespace.length) > NAME_LENGTH_MAX) {
    return { key, shown: [], subjects: [], isTooLong: true };
  }
  // Also for what is gone or not selected: it says where it stood.
  const places = show(resource.name, object, showPlan(feed, resource, epoch));
  const isShown = !isGone && isTooLarge !== true && selects(feed, resource, object);
  const shown = isShown ? places : [];
  const subjects = new Set(places.map(({ subject }) => subject));
  for (const subject of subjects) refuseLong(subject, object);
  if (isPlaced(resource)) subjects.add(subjectOf('cluster', key));
  return { key, shown, subjects: [...subjects], isTooLong: false };
}

/** Beyond it NATS ends the connection of everybody who shares it. */
const SUBJECT_LENGTH_MAX = 2_000;

/** Names that an API server takes stay well below; an event may claim any. */
function refuseLong(subject: string, { kind, metadata }: KubeObject): void {
  if (subject.length <= SUBJECT_LENGTH_MAX) return;
  const object = `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
  const message = `${object} cannot be published: no node has a name as long as its spec.nodeName.`;
  throw new Failure('FEED_OBJECT_BROKEN', message, { field: 'data.spec.nodeName' });
}

/** Kinds whose objects stand with the whole cluster until they have a node. */
const isPlaced = ({ name }: ShownResource): boolean => name === 'pods' || name === SLICES;

export function desiredState(
  feed: Feed,
  { plan: { key, shown, subjects }, resourceVersion, isGone, resource, uid, createdMs }: Projection,
  { epoch, nowMs }: Moment,
): DesiredState {
  const shownOn = new Set(shown.map(({ subject }) => subject));
  // An older sight of it may still be under way, unless it is older than what tombstones cover.
  const isYoung = nowMs - createdMs < feed.spec.retention.tombstoneSeconds * 1_000;
  const mayComeLate = isYoung && (isGone || resource === 'pods');
  return {
    epoch,
    resourceVersion,
    shown,
    head: resource === SLICES ? subjectOf('cluster', key) : undefined,
    closed: mayComeLate ? subjects.filter((subject) => !shownOn.has(subject)) : [],
    uid,
    at: new Date(nowMs).toISOString(),
    isAuthoritative: false,
  };
}
