// What the rest of the function has to know of an etcd operator: its kind, its program, and what it
// makes of an object, so that one file more is one operator more.
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
  /** What of its spec an EtcdCluster says as well, in the words of that. */
  readonly carried: (legacy: LegacyEtcd) => Readonly<Record<string, unknown>>;
  /** What goes with the object, beside its Services and pods. */
  readonly going: (legacy: LegacyEtcd) => readonly PlannedObject[];
  /** What speaks against it because it is of this operator. */
  readonly refuse: (state: State, legacy: LegacyEtcd) => readonly Reason[];
  readonly notes: (state: State, legacy: LegacyEtcd) => readonly Reason[];
  /** Why nobody knows whether one of all namespaces runs, and what to do. */
  readonly unknown: string;
}
