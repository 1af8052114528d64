// A Takeover as it was read, in the terms of this function. Pure.
import type { LegacyReference, TakeoverSpec, TakeoverStatus } from '../../shared/api/takeover.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { type OwnObject, ownObjectOf } from '../../shared/kube/own-object.ts';

export type Takeover = OwnObject<TakeoverSpec, TakeoverStatus>;

export const takeoverOf: (object: KubeObject) => Takeover = ownObjectOf;

/** The kind of what is made. */
export const intoKindOf = ({
  kind,
}: Pick<LegacyReference, 'kind'>): Exclude<LegacyReference['kind'], 'StatefulSet'> =>
  kind === 'EtcdCluster' ? kind : 'NatsCluster';
