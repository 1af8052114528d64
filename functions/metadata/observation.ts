// One object as it was observed, and its projection onto the feed: the messages to show, and the
// subjects to read to know where it stood before. Pure.
import { Failure } from '../../shared/errors.ts';
import { type Shown, show } from '../../shared/feed/projections/show.ts';
import { type ObjectKey, subjectOf } from '../../shared/feed/subjects.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { DesiredState } from './decide.ts';
import { type Feed, selects, type ShownResource, showPlan } from './feed.ts';

/** Endpoint slices are cut up by node. The head of a slice names the nodes that hold a part. */
export const SLICES = 'endpointslices';

/** An object, or its absence. */
export interface Observation {
  readonly resource: ShownResource;
  readonly object: KubeObject;
  readonly isGone: boolean;
  /** The object's own version, or that of the read that did not find it. */
  readonly resourceVersion: string;
  /** Too large to show: only its metadata was read. */
  readonly isTooLarge?: boolean;
}

/** The part of an observation that is kept: the object itself may be a thousand times larger. */
export interface Projection extends Pick<Observation, 'isGone' | 'resourceVersion'> {
  readonly placement: Placement;
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
  /**
   * Where the object stands, or stood when the feed saw it before. The head of an endpoint slice
   * may name more.
   */
  readonly subjects: readonly string[];
  /** Its name does not fit into a subject. */
  readonly isTooLong: boolean;
}

/** RBAC objects may have names of any length. */
const NAME_LENGTH_MAX = 253;

function keyOf({ name: resource }: ShownResource, { metadata }: KubeObject): ObjectKey {
  return { resource, namespace: metadata.namespace ?? '', name: metadata.name };
}

export function project(feed: Feed, observation: Observation, epoch: number): Projection {
  const { resource, object, isGone, resourceVersion, isTooLarge = false } = observation;
  const { uid, creationTimestamp = '' } = object.metadata;
  return {
    placement: placementOf(feed, observation, epoch),
    isGone,
    isTooLarge,
    resourceVersion,
    resource: resource.name,
    uid,
    createdMs: Date.parse(creationTimestamp),
  };
}

function placementOf(feed: Feed, observation: Observation, epoch: number): Placement {
  const { resource, object, isGone, isTooLarge } = observation;
  const key = keyOf(resource, object);
  if (Math.max(key.name.length, key.namespace.length) > NAME_LENGTH_MAX) {
    return { key, shown: [], subjects: [], isTooLong: true };
  }
  // Computed also for an object that is gone or not selected: it says where the object stood.
  const places = show(resource.name, object, showPlan(feed, resource, epoch));
  const isShown = !isGone && isTooLarge !== true && selects(feed, resource, object);
  const shown = isShown ? places : [];
  const subjects = new Set(places.map(({ subject }) => subject));
  for (const subject of subjects) refuseLong(subject, object);
  if (isPlaced(resource)) subjects.add(subjectOf('cluster', key));
  return { key, shown, subjects: [...subjects], isTooLong: false };
}

/** NATS closes the connection on a longer subject, and the connection is shared. */
const SUBJECT_LENGTH_MAX = 2_000;

/** Names that the API server admits stay well below. An event may claim any name. */
function refuseLong(subject: string, { kind, metadata }: KubeObject): void {
  if (subject.length <= SUBJECT_LENGTH_MAX) return;
  const object = `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
  const message = `${object} cannot be published: no node has a name as long as its spec.nodeName.`;
  throw new Failure('FEED_OBJECT_BROKEN', message, { field: 'data.spec.nodeName' });
}

/** Kinds whose objects stand under `cluster` until they have a node. */
export const isPlaced = ({ name }: ShownResource): boolean => name === 'pods' || name === SLICES;

export function desiredState(
  feed: Feed,
  {
    placement: { key, shown, subjects },
    resourceVersion,
    isGone,
    resource,
    uid,
    createdMs,
  }: Projection,
  { epoch, nowMs }: Moment,
): DesiredState {
  const shownOn = new Set(shown.map(({ subject }) => subject));
  // An older observation of a young object may still be on its way. For an older object the
  // tombstones' retention covers that.
  const isYoung = nowMs - createdMs < feed.spec.retention.tombstoneSeconds * 1_000;
  const mayArriveLate = isYoung && (isGone || resource === 'pods');
  return {
    epoch,
    resourceVersion,
    shown,
    head: resource === SLICES ? subjectOf('cluster', key) : undefined,
    guarded: mayArriveLate ? subjects.filter((subject) => !shownOn.has(subject)) : [],
    uid,
    at: new Date(nowMs).toISOString(),
    isAuthoritative: false,
  };
}
