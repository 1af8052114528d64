// Applies one step. Each changes one thing, on condition that it is still as it was observed, and
// returns the Event to create, or the reason why etcd refuses.
import {
  BORN_ANNOTATION,
  CLUSTER_ID_ANNOTATION,
  ETCD_PEERS,
  VERSION_ANNOTATION,
} from '../../shared/api/etcd-peer.ts';
import { isEtcdFailure } from '../../shared/etcd/admin/failure.ts';
import { hexOf } from '../../shared/etcd/admin/ids.ts';
import type { EtcdAdmin } from '../../shared/etcd/admin.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { CLAIMS } from '../../shared/stateful/parts.ts';
import {
  applied,
  applyStatefulStep,
  slowly,
  type StepResult,
  unconfirmed,
} from '../../shared/stateful/steps.ts';
import { applyAuth } from './auth/apply.ts';
import type { Cluster } from './cluster.ts';
import { endpointOf, withMembers } from './connect.ts';
import type { OnEtcd, Step } from './decision.ts';
import type { Deps } from './deps.ts';
import { KEPT } from './leave.ts';
import { peerManifest } from './render.ts';
import { leaderOf, peerNameOf, type State, votersToAsk } from './state.ts';
import { applyUpkeep } from './upkeep-steps.ts';

export async function applyStep(
  deps: Deps,
  state: State,
  step: Step,
  signal: AbortSignal,
): Promise<StepResult | Reason> {
  const { cluster } = state;
  switch (step.type) {
    case 'make-secret':
    case 'apply':
    case 'delete-claim':
    case 'restart':
      return applyStatefulStep(deps.kube, cluster, step, signal);
    case 'make-peer':
    case 'update-peer':
    case 'delete-peer':
      return applyToPeer(deps, cluster, step, signal);
    case 'mark-claim':
      return markClaim(deps, cluster, step, signal);
    case 'add-learner':
    case 'promote':
    case 'remove-member':
    case 'move-leader':
      return applyToEtcd(deps, state, step, signal);
    case 'compact':
    case 'defragment':
    case 'disarm':
      return applyUpkeep(deps, state, step, signal);
    case 'change-auth':
      return applyAuth(deps, state, step.change, signal);
    // The reconciler writes them with the status.
    case 'write-records':
      return { isSlow: false };
    default:
      return step satisfies never;
  }
}

type OnPeer = Extract<Step, { type: 'make-peer' | 'update-peer' | 'delete-peer' }>;

async function applyToPeer(
  { kube }: Deps,
  cluster: Cluster,
  step: OnPeer,
  signal: AbortSignal,
): Promise<StepResult> {
  switch (step.type) {
    case 'make-peer': {
      const { name, spec } = step;
      await kube.create(ETCD_PEERS, peerManifest(cluster, name, spec), { signal });
      return applied('PeerCreated', `Created EtcdPeer ${name}, state ${spec.bootstrap.state}.`);
    }
    case 'update-peer': {
      const { peer, spec } = step;
      const manifest = peerManifest(cluster, peer.name, spec);
      const { uid, resourceVersion } = peer;
      const metadata = { ...manifest.metadata, uid, resourceVersion };
      await kube.apply(ETCD_PEERS, { ...manifest, metadata }, { force: true, signal });
      return applied('PeerUpdated', `Updated EtcdPeer ${peer.name}.`);
    }
    default: {
      const { name, uid, resourceVersion } = step.peer;
      const target = { namespace: cluster.namespace, name };
      await kube.delete(ETCD_PEERS, target, { uid, resourceVersion }, { signal });
      return applied('PeerDeleted', `Deleted EtcdPeer ${name} (uid ${uid}).`);
    }
  }
}

async function markClaim(
  { kube }: Deps,
  { namespace }: Cluster,
  { claim, clusterId, version, born }: Extract<Step, { type: 'mark-claim' }>,
  signal: AbortSignal,
): Promise<StepResult> {
  const { name, uid, resourceVersion } = claim;
  const annotations = {
    [CLUSTER_ID_ANNOTATION]: clusterId,
    ...(version === undefined ? {} : { [VERSION_ANNOTATION]: version }),
    ...(born === undefined ? {} : { [BORN_ANNOTATION]: born }),
  };
  const body = { metadata: { uid, resourceVersion, annotations } };
  await kube.patch(CLAIMS, { namespace, name }, { type: 'merge', body }, { signal });
  if (clusterId.startsWith(KEPT)) {
    return applied('ClaimKept', `Claim ${name} is kept aside: no member starts with its data.`);
  }
  const by = version === undefined ? '' : `, written by etcd ${version}`;
  return applied('ClaimMarked', `Claim ${name} has data of cluster ${clusterId}${by}.`);
}

/**
 * Ordinary for some seconds: etcd takes a change of members only from a leader that has been
 * connected to all of them for five, and a learner catches up in the end.
 */
const NOT_YET = ['UNHEALTHY', 'LEARNER_NOT_READY', 'NO_LEADER', 'LEADER_CHANGED'] as const;

/** A change of members takes effect later, and what etcd refuses now it may take in a second. */
async function applyToEtcd(
  deps: Deps,
  state: State,
  step: OnEtcd,
  signal: AbortSignal,
): Promise<StepResult> {
  const { cluster, pods, parts } = state;
  if (parts.access === undefined) throw new Error('asked to change members without access');
  const target = { cluster, pods, access: parts.access };
  const work = async (admin: EtcdAdmin): Promise<boolean> =>
    (step.type !== 'promote' || (await hears(deps, admin, state, step.peer, signal))) &&
    change(admin, state, step, signal).then(() => true);
  try {
    if (!(await withMembers(deps.openAdmin, target, votersToAsk(state), work)))
      return { isSlow: true };
    const { reason, message } = sentenceOf(step);
    return slowly(applied(reason, message));
  } catch (error) {
    signal.throwIfAborted();
    if (!isEtcdFailure(error)) throw error;
    if (NOT_YET.some((reason) => reason === error.reason)) return { isSlow: true };
    return unconfirmed('etcd', error.message, sentenceOf(step));
  }
}

const HEARS_TRIES = 10;
const HEARS_PAUSE_MS = 100;

/**
 * Whether a learner still hears the leader: little is written in some clusters, and one that is cut
 * off lags by nothing. The list of alarms goes through the log, and the learner has to apply that.
 */
async function hears(
  { clock }: Deps,
  admin: EtcdAdmin,
  { cluster, pods, ...state }: State,
  peer: string,
  signal: AbortSignal,
): Promise<boolean> {
  const leader = leaderOf({ cluster, ...state });
  const name = leader && peerNameOf({ cluster }, leader);
  const [from, to] = [name ?? '', peer].map((one) => endpointOf(cluster, pods, one));
  if (from === undefined || to === undefined) return false;
  await admin.alarms.list({ signal });
  const { raftIndex } = await admin.at(from).status({ signal });
  for (let tries = 0; tries < HEARS_TRIES; tries += 1) {
    const { raftAppliedIndex } = await admin.at(to).status({ signal });
    if (raftAppliedIndex >= raftIndex) return true;
    await clock.sleep(HEARS_PAUSE_MS, signal);
  }
  return false;
}

async function change(
  admin: EtcdAdmin,
  { cluster, pods }: State,
  step: OnEtcd,
  signal: AbortSignal,
): Promise<unknown> {
  switch (step.type) {
    case 'add-learner':
      return admin.members.addLearner([step.url], { signal });
    case 'promote':
      return admin.members.promote(step.memberId, { signal });
    case 'remove-member':
      return admin.members.remove(step.memberId, { signal });
    default: {
      // Nobody but the leader can hand over.
      const leader = endpointOf(cluster, pods, step.from);
      return leader && admin.at(leader).moveLeader(step.memberId, { signal });
    }
  }
}

function sentenceOf(step: OnEtcd): Reason {
  switch (step.type) {
    case 'add-learner':
      return { reason: 'LearnerAdded', message: `${step.peer} is to join as a learner.` };
    case 'promote':
      return { reason: 'Promoted', message: `${step.peer} votes from now on.` };
    case 'remove-member': {
      const message = `The members count ${step.peer} (${hexOf(step.memberId)}) no more.`;
      return { reason: 'MemberRemoved', message };
    }
    default:
      return { reason: 'LeaderMoved', message: `${step.from} let ${step.to} lead.` };
  }
}
