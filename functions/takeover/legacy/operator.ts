// The interface to an etcd operator: its kind, its program, and what it makes of an object, so that
// one file more is one operator more.
import type { PlannedObject } from '../../../shared/api/takeover.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import type { LegacyEtcd } from '../legacy.ts';
import type { State } from '../state.ts';
import type { RunsIn } from './program.ts';

export interface EtcdOperator {
  readonly ref: ResourceRef;
  /** Whether a container is the operator. */
  readonly runsIn: RunsIn;
  readonly legacyOf: (object: KubeObject) => LegacyEtcd;
  /** The part of its spec that an EtcdCluster says as well, in the words of that. */
  readonly carried: (legacy: LegacyEtcd) => Readonly<Record<string, unknown>>;
  /** Objects that go with it, beside its Services and pods. */
  readonly going: (legacy: LegacyEtcd, state: State) => readonly PlannedObject[];
  /** Reasons against it because it is of this operator. */
  readonly refuse: (state: State, legacy: LegacyEtcd) => readonly Reason[];
  readonly notes: (state: State, legacy: LegacyEtcd) => readonly Reason[];
  /** Why nobody knows whether one of all namespaces runs, and what to do. */
  readonly unknown: string;
}

/** One of these objects. */
export const goes = (kind: string, name: string, why: string): PlannedObject => ({
  action: 'Delete',
  kind,
  name,
  why,
});
