// A MetadataFeed as it was read, and its spec with defaults: which resources, which of their
// objects, and which fields to show. Pure.
import type {
  FeedResource,
  MetadataFeedSpec,
  MetadataFeedStatus,
} from '../../shared/api/metadata-feed.ts';
import { BUILT_IN } from '../../shared/feed/projections/built-in.ts';
import type { ShowPlan } from '../../shared/feed/projections/show.ts';
import {
  type ResourceName,
  livePrefix,
  storedPrefix,
  streamName,
} from '../../shared/feed/subjects.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';
import { ownObjectOf } from '../../shared/kube/own-object.ts';
import type { StreamSettings } from '../../shared/nats/stream-config.ts';

export interface ShownResource {
  readonly name: ResourceName;
  readonly ref: ResourceRef;
  /** Undefined for kinds that are not built in: their events name the kind. */
  readonly kind: string | undefined;
  readonly isNamespaced: boolean | undefined;
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly fields: ShowPlan['fields'];
}

export interface Feed {
  /** As it was read. */
  readonly object: KubeObject;
  readonly spec: MetadataFeedSpec;
  readonly status: MetadataFeedStatus;
  /** The feed's name on NATS. */
  readonly name: string;
  readonly prefix: string;
  readonly resources: readonly ShownResource[];
}

export function feedOf(object: KubeObject): Feed {
  const { spec, status } = ownObjectOf<MetadataFeedSpec, MetadataFeedStatus>(object);
  const name = spec.stream.name ?? object.metadata.name;
  return { object, spec, status, name, prefix: storedPrefix(name), resources: resourcesOf(spec) };
}

function resourcesOf({ resources }: MetadataFeedSpec): readonly ShownResource[] {
  if (resources !== undefined) return resources.map(shownResource);
  return BUILT_IN.map((row) => ({
    name: row.resource,
    ref: row.ref,
    kind: row.kind,
    isNamespaced: row.isNamespaced,
    matchLabels: {},
    fields: [],
  }));
}

function shownResource({
  group,
  version,
  resource,
  matchLabels = {},
  fields = [],
}: FeedResource): ShownResource {
  const ref = { group, version, resource };
  const builtIn = BUILT_IN.find((row) => row.ref.group === group && row.ref.resource === resource);
  const name = builtIn?.resource ?? (group === '' ? resource : `${resource}.${group}`);
  const { kind, isNamespaced } = builtIn ?? {};
  return { name, ref, kind, isNamespaced, matchLabels, fields };
}

export function streamSettings({ name, spec }: Feed): StreamSettings {
  return {
    name: streamName(name),
    prefix: storedPrefix(name),
    livePrefix: livePrefix(name),
    replicas: spec.stream.replicas,
    storage: spec.stream.storage === 'File' ? 'file' : 'memory',
  };
}

export function showPlan({ spec }: Feed, { fields }: ShownResource, epoch: number): ShowPlan {
  return { epoch, podLabels: spec.pods.labels, podAnnotations: spec.pods.annotations, fields };
}

/** Whether the feed shows all objects of this resource. */
export function isWhole({ spec }: Feed, { matchLabels }: ShownResource): boolean {
  return spec.namespaces === undefined && Object.keys(matchLabels).length === 0;
}

export function selects(
  { spec }: Feed,
  { matchLabels }: ShownResource,
  { metadata, kind }: KubeObject,
): boolean {
  const { include, exclude = [] } = spec.namespaces ?? {};
  // A namespace is shown when its objects are. Cluster-scoped objects are always shown.
  const namespace = kind === 'Namespace' ? metadata.name : metadata.namespace;
  if (namespace !== undefined) {
    if (include !== undefined && !include.includes(namespace)) return false;
    if (exclude.includes(namespace)) return false;
  }
  return Object.entries(matchLabels).every(([key, value]) => metadata.labels?.[key] === value);
}
