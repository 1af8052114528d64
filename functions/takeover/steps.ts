// Applies one step on an EtcdCluster. Each changes one thing: what it makes it creates and never
// updates, and what is there it changes or deletes by uid, on condition that it is still as it was
// observed.
import { ETCD_BACKUPS } from '../../shared/api/etcd-backup.ts';
import { ETCD_CLUSTERS } from '../../shared/api/etcd-cluster.ts';
import { ETCD_RESTORES } from '../../shared/api/etcd-restore.ts';
import { Failure } from '../../shared/errors.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { ResourceRef } from '../../shared/kube/objects.ts';
import { CLAIMS } from '../../shared/stateful/parts.ts';
import { applied, type StepResult, unconfirmed } from '../../shared/stateful/steps.ts';
import type { AnyStep } from './any-state.ts';
import type { MadeKind, Step } from './decision.ts';
import { accessToOld } from './access.ts';
import type { Door } from './door.ts';
import { newSelectorOf } from './lead-over.ts';
import { type Leading, leadToNew, withoutLegacy } from './lead-service.ts';
import { isOneService } from './legacy.ts';
import { operatorOf } from './legacy/operators.ts';
import { alarmIdOf, madeNameOf } from './records.ts';
import { releasePeer } from './release-peers.ts';
import { backupManifest, claimManifest, restoreManifest } from './render.ts';
import type { FoundClaim, FoundService, State } from './state.ts';

export interface StepDeps {
  readonly kube: KubeClient;
  readonly door: Pick<Door, 'raise' | 'disarm'>;
}

/** etcd writes it into the log of each member. */
const ANSWERS_WITHIN_MS = 10_000;

const REFS: Readonly<Record<MadeKind, ResourceRef>> = {
  claim: CLAIMS,
  EtcdBackup: ETCD_BACKUPS,
  EtcdRestore: ETCD_RESTORES,
  EtcdCluster: ETCD_CLUSTERS,
};

export async function applyStep(
  deps: StepDeps,
  state: State,
  step: AnyStep,
  signal: AbortSignal,
): Promise<StepResult | Reason> {
  const { kube } = deps;
  const { namespace } = state.takeover;
  switch (step.type) {
    case 'raise-alarm':
    case 'end-alarm':
      return setAlarm(deps, state, step, signal);
    case 'make':
      return make(kube, state, step.kind, signal);
    case 'delete': {
      const { name, uid, resourceVersion } = step.found;
      const background = { propagationPolicy: 'Background', signal } as const;
      const target = { namespace, name };
      await kube.delete(REFS[step.kind], target, { uid, resourceVersion }, background);
      return applied('TakenBack', `Deleted ${step.kind} ${name} (uid ${uid}), which was ours.`);
    }
    case 'switch-service':
      return leadToCluster(kube, state.takeover, { ...state, client: step.service }, signal);
    case 'orphan-claim':
      return orphan(kube, state, step.claim, signal);
    case 'release-peer':
      return releasePeer(kube, state, step.peer, signal);
    case 'delete-legacy': {
      const { uid, resourceVersion } = step;
      const { legacy } = state.takeover.spec;
      const { name } = legacy;
      const background = { propagationPolicy: 'Background', signal } as const;
      const target = { namespace, name };
      await kube.delete(operatorOf(legacy).ref, target, { uid, resourceVersion }, background);
      return applied('LegacyDeleted', `Deleted EtcdCluster ${name} (uid ${uid}) of the operator.`);
    }
    default:
      // Operators are scaled and the status is written by pieces of their own.
      return { isSlow: false };
  }
}

/** As it is done, and as it is tried before. */
export function leadToCluster(
  kube: Pick<KubeClient, 'patch'>,
  takeover: Leading,
  { legacy, client }: Pick<State, 'legacy'> & { readonly client: FoundService },
  signal: AbortSignal,
): Promise<StepResult> {
  const fields = readyAlone(legacy);
  const to = { kind: 'EtcdCluster', selector: newSelectorOf(takeover), fields };
  return leadToNew(kube, takeover, client, to, signal);
}

/** Members of an old one had to find each other before they were ready; clients must not. */
const readyAlone = (legacy: State['legacy']): object =>
  legacy !== undefined && isOneService(legacy) ? { publishNotReadyAddresses: false } : {};

async function setAlarm(
  { door }: StepDeps,
  state: State,
  { type, pod }: Extract<Step, { type: 'raise-alarm' | 'end-alarm' }>,
  signal: AbortSignal,
): Promise<StepResult> {
  const { takeover, pods } = state;
  const member = accessToOld(
    state,
    pods.filter(({ name }) => name === pod),
  );
  const isRaised = type === 'raise-alarm';
  const told = isRaised
    ? ({
        reason: 'WritersStopped',
        message: `Raised the alarm by ${pod}: no write is taken.`,
      } as const)
    : ({ reason: 'WritersGoOn', message: `Ended the alarm by ${pod}: writes are taken.` } as const);
  const options = { timeoutMs: ANSWERS_WITHIN_MS, signal };
  try {
    await (isRaised ? door.raise : door.disarm)(member, alarmIdOf(takeover), options);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    return unconfirmed(pod, error.message, told);
  }
  return applied(told.reason, told.message);
}

async function make(
  kube: KubeClient,
  state: State,
  kind: Exclude<MadeKind, 'EtcdCluster'>,
  signal: AbortSignal,
): Promise<StepResult> {
  const { takeover, legacy } = state;
  const { work } = takeover.status;
  if (work === undefined || legacy === undefined) throw new Error('there is nothing to make');
  const name = madeNameOf(takeover.name, work);
  const manifests = {
    claim: () => claimManifest(takeover, legacy, name),
    EtcdBackup: () => backupManifest(state, legacy, name),
    EtcdRestore: () => restoreManifest(takeover, legacy, name),
  };
  // One that is there already stays as it is, and the next look says whose it is.
  await kube.create(REFS[kind], manifests[kind](), { signal });
  return applied('Created', `Created ${kind} ${name}.`);
}

async function orphan(
  kube: KubeClient,
  state: State,
  { name, uid, resourceVersion, owners }: FoundClaim,
  signal: AbortSignal,
): Promise<StepResult> {
  const metadata = { uid, resourceVersion, ownerReferences: withoutLegacy(owners, state.takeover) };
  const target = { namespace: state.takeover.namespace, name };
  await kube.patch(CLAIMS, target, { type: 'merge', body: { metadata } }, { signal });
  return applied('ClaimKept', `Claim ${name} (uid ${uid}) no longer goes with the old cluster.`);
}
