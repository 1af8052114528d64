// The interface to whoever made a NATS: the kind by which it is known, what it leaves, how its
// servers are told of users, and how they leave.
import type { PlannedObject } from '../../../../shared/api/takeover.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import type { Reason } from '../../../../shared/kube/conditions.ts';
import type { KubeObject, ResourceRef } from '../../../../shared/kube/objects.ts';
import type { StepResult } from '../../../../shared/stateful/steps.ts';
import type { Named } from '../../grant.ts';
import type { Leading } from '../../lead-service.ts';
import type { Takeover } from '../../object.ts';
import type { FoundService } from '../../state.ts';
import type { Leaving } from '../end-server.ts';
import type { LegacyNats } from '../legacy.ts';
import type { FoundConfig, FoundServer, NatsState } from '../state.ts';

type Selector = FoundService['selector'];

export interface NatsMaker {
  readonly ref: ResourceRef;
  readonly legacyOf: (object: KubeObject) => LegacyNats;
  /** A Service as it was read; it is owned while it goes with what was made. */
  readonly serviceOf: (object: KubeObject, legacy: LegacyNats) => FoundService;
  /** The kind of the object that has `nats.conf`. */
  readonly configKind: 'Secret' | 'ConfigMap';
  readonly readConfig: (
    kube: KubeClient,
    legacy: LegacyNats,
    signal: AbortSignal,
  ) => Promise<FoundConfig>;
  /** By users; empty where they may not be read. */
  readonly readPasswords: (
    kube: KubeClient,
    legacy: LegacyNats,
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<string, string>>;
  /** Names by which the configuration may be read, and servers may leave. */
  readonly grantsOf: (state: Pick<NatsState, 'takeover' | 'config'>) => Named;
  /** Objects with their fate, beside its client Service and its pods. */
  readonly planned: (state: NatsState, legacy: LegacyNats) => readonly PlannedObject[];
  readonly words: MakerWords;
  readonly refuse: (state: NatsState, legacy: LegacyNats) => readonly Reason[];
  readonly notes: (state: NatsState, legacy: LegacyNats) => readonly Reason[];
  /** The server that is the next to leave. */
  readonly nextOf: (pods: readonly FoundServer[]) => FoundServer | undefined;
  /** Undefined where it is on its way already. */
  readonly leave: (server: FoundServer, legacy: LegacyNats) => Leaving | undefined;
  /** Servers that nobody had confirmed, as a person would say it. */
  readonly appeared: (state: NatsState) => readonly string[];
  readonly leadToNew: Lead<Leading>;
  readonly leadToOld: Lead<Takeover>;
}

type Lead<Of> = (
  kube: Pick<KubeClient, 'patch'>,
  takeover: Of,
  how: { readonly service: FoundService; readonly selector: Selector },
  signal: AbortSignal,
) => Promise<StepResult>;

/** Parts of sentences of the plan. */
export interface MakerWords {
  /** The object, as in `NatsCluster old of the old operator`. */
  readonly object: (name: string) => string;
  /** How the servers leave, by their names. */
  readonly leaving: (names: string) => string;
  /** Advice about servers that have appeared. */
  readonly appeared: (takeover: Takeover) => string;
  /** The command by which a person has the next server leave. */
  readonly endsBy: (takeover: Takeover, server: FoundServer) => string;
  /** How its configuration is put back. */
  readonly restored: string;
  /** How something is taken out of what servers were told. */
  readonly takeOut: string;
  /** Advice where nobody is asked for a login. */
  readonly askLogin: string;
  /** The setting by which old servers ask each other for a login. */
  readonly routeLogin: string;
  /** That of the authority by which they believe each other. */
  readonly routeAuthority: string;
  /** That by which their monitoring speaks HTTPS. */
  readonly monitoringTls: string;
}
