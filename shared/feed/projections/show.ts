// The messages that a feed shows of an object, and their subjects. Pure. The same object always
// gives the same bytes, so observing it again publishes nothing.
import type { ObjectMessage, OwnerMessage } from '../messages.ts';
import { type ObjectKey, type Place, type ResourceName, subjectOf } from '../subjects.ts';
import { BUILT_IN } from './built-in.ts';
import { cutByNode } from './endpoint-slice.ts';
import { type NamedField, namedFields } from './fields.ts';
import { nodeAspect, serviceAspect } from './node-and-service.ts';
import { type PodPlan, nodeOf, podAspect } from './pod.ts';
import type { Aspect, SourceObject } from './source.ts';
import { fieldsIn, listIn, said, textIn, textMapIn } from './values.ts';
import {
  cronJobAspect,
  daemonSetAspect,
  jobAspect,
  namespaceAspect,
  scaledAspect,
} from './workload.ts';

export interface ShowPlan extends PodPlan {
  readonly epoch: number;
  /** The fields that the spec names for this kind. Built-in kinds have fixed fields. */
  readonly fields: readonly NamedField[];
}

export interface Shown {
  readonly place: Place;
  readonly key: ObjectKey;
  readonly subject: string;
  readonly message: ObjectMessage;
}

type AspectOf = (object: SourceObject, plan: ShowPlan) => Aspect;

const ASPECTS: ReadonlyMap<ResourceName, AspectOf> = new Map([
  ['nodes', nodeAspect],
  ['namespaces', namespaceAspect],
  ['pods', podAspect],
  ['services', serviceAspect],
  ['deployments', scaledAspect],
  ['replicasets', scaledAspect],
  ['statefulsets', scaledAspect],
  ['daemonsets', daemonSetAspect],
  ['jobs', jobAspect],
  ['cronjobs', cronJobAspect],
]);

const KINDS: ReadonlyMap<ResourceName, string> = new Map(
  BUILT_IN.map(({ resource, kind }) => [resource, kind]),
);

/** Everything but an endpoint slice is shown in one place. */
export function show(
  resource: ResourceName,
  object: SourceObject,
  plan: ShowPlan,
): readonly Shown[] {
  const { metadata } = object;
  const key = { resource, namespace: metadata.namespace ?? '', name: metadata.name };
  const kind = KINDS.get(resource) ?? textIn(object.kind) ?? resource;
  const at = (place: Place, message: ObjectMessage): Shown => ({
    place,
    key,
    subject: subjectOf(place, key),
    message,
  });
  if (resource === 'endpointslices') {
    const { head, parts } = cutByNode(object);
    const name = nameOf(object, kind, plan.epoch);
    return [
      at('cluster', { ...name, ...originOf(object), ...head }),
      ...parts.map((part) => at({ node: part.node }, { ...name, ...part })),
    ];
  }
  const aspectOf = ASPECTS.get(resource) ?? otherAspect(resource);
  const message = {
    ...nameOf(object, kind, plan.epoch),
    ...originOf(object),
    ...aspectOf(object, plan),
  };
  return [at(resource === 'pods' ? podPlace(object) : 'all', message)];
}

function podPlace(pod: SourceObject): Place {
  const node = nodeOf(pod);
  return node === undefined ? 'cluster' : { node };
}

function otherAspect(resource: ResourceName): AspectOf {
  return (object, { fields }) =>
    said<Aspect>({
      labels: textMapIn(object.metadata.labels),
      fields: namedFields(resource, object, fields),
    });
}

type Name = Pick<
  ObjectMessage,
  'epoch' | 'kind' | 'namespace' | 'name' | 'uid' | 'resourceVersion'
>;

function nameOf({ metadata }: SourceObject, kind: string, epoch: number): Name {
  const { namespace, name, uid, resourceVersion } = metadata;
  return said<Name>({ epoch, kind, namespace: textIn(namespace), name, uid, resourceVersion });
}

type Origin = Pick<ObjectMessage, 'created' | 'owner'>;

function originOf({ metadata }: SourceObject): Origin {
  return said<Origin>({ created: textIn(metadata.creationTimestamp), owner: ownerOf(metadata) });
}

function ownerOf({ ownerReferences }: SourceObject['metadata']): OwnerMessage | undefined {
  for (const entry of listIn(ownerReferences)) {
    const { controller, kind, name, uid } = fieldsIn(entry);
    if (controller !== true) continue;
    return { kind: textIn(kind) ?? '', name: textIn(name) ?? '', uid: textIn(uid) ?? '' };
  }
  return undefined;
}
