// Decides the next step. The first planner that has a step, or something to wait for, wins. A
// member never starts with another volume than its first, or in another pod than its first when it
// has none, no claim is deleted, and a peer goes after its pod. Pure.
import { claimName, podName } from '../../shared/api/etcd-names.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { isEnding } from '../../shared/kube/objects.ts';
import { firstOf, NOTHING, type Planner, waitFor } from '../../shared/stateful/decision.ts';
import type { Decision, Step } from './decision.ts';
import { hasClaim, isHeld, type Peer } from './peer.ts';
import { isLost, type State } from './state.ts';

const PLANNERS: readonly Planner<State, Step>[] = [
  end,
  hold,
  stopLost,
  chooseClaim,
  refuseTaken,
  grow,
  applySet,
  awaitPod,
  notePod,
  reportClaim,
];

export const decide = (state: State): Decision => firstOf(PLANNERS, state);

/** The StatefulSet, then the pod, then the peer: etcd-cluster deletes a claim after all of them. */
function end({ peer, statefulSet, pod }: State): Decision | undefined {
  if (!isEnding(peer.object)) return undefined;
  if (!isHeld(peer)) return NOTHING;
  if (statefulSet?.isOurs === true && !statefulSet.isEnding) {
    return {
      step: { type: 'delete', statefulSet },
      next: `Delete StatefulSet ${peer.name}`,
    };
  }
  const isLeft = statefulSet?.isOurs === true || pod?.isOurs === true;
  if (isLeft) return waitFor('Let it go', [podEnds(peer.name)]);
  return { step: { type: 'release' }, next: 'Let it go' };
}

const podEnds = (peer: string): Reason => ({
  reason: 'PodEnding',
  message: `Pod ${podName(peer)} is ending.`,
});

/** Before anything is made that has to go first. */
function hold({ peer }: State): Decision | undefined {
  return isHeld(peer) ? undefined : { step: { type: 'hold' }, next: 'Hold it until its pod ends' };
}

function stopLost(state: State): Decision | undefined {
  if (!isLost(state)) return undefined;
  const { peer, statefulSet } = state;
  if (!hasClaim(peer)) return waitFor('Nothing', [podLost(peer)]);
  const lost = {
    reason: 'DataLost',
    message:
      `Claim ${claimName(peer.name)} (uid ${peer.status.claimUid ?? ''}) is gone, and all that ` +
      'this member has stored and promised. It starts with no other volume: etcd-cluster takes ' +
      'the member away, and makes another one.',
  };
  if (statefulSet?.isOurs !== true || statefulSet.replicas === 0) return waitFor('Nothing', [lost]);
  return {
    ...waitFor(`Stop pod ${podName(peer.name)}`, [lost]),
    step: { type: 'stop', statefulSet },
  };
}

/** Its next pod starts only with data; while it is there, the budget counts it as one away. */
const podLost = ({ name, status: { podUid = '' } }: Peer): Reason => ({
  reason: 'DataLost',
  message:
    `Pod ${podName(name)} (uid ${podUid}) is gone, and all that this member had in memory and ` +
    'has promised. It does not go on in another pod: etcd-cluster takes the member away, and ' +
    'makes another one.',
});

/** The claim of the status, and only once in its life one for the status. */
function chooseClaim(state: State): Decision | undefined {
  const { peer, claim } = state;
  if (!hasClaim(peer) || peer.status.claimUid !== undefined) return undefined;
  const name = claimName(peer.name);
  if (claim === undefined) return { step: { type: 'make-claim' }, next: `Create claim ${name}` };
  const next = `Take claim ${name}`;
  if (!claim.isOurs) return refuse(next, nameTaken('PersistentVolumeClaim', name));
  if (claim.isEnding) {
    const message = `Claim ${name} is being deleted; another one is made when it is gone.`;
    return waitFor(next, [{ reason: 'ClaimEnding', message }]);
  }
  const kept = keptBy(state);
  if (kept !== undefined) return refuse(next, kept);
  return { step: { type: 'write-records', records: { claimUid: claim.uid } }, next };
}

const refuse = (next: string, trouble: Reason): Decision => waitFor(next, [trouble], trouble);

const nameTaken = (kind: string, name: string): Reason => ({
  reason: 'NameTaken',
  message: `${kind} ${name} is there already and is not ours; delete it, or choose another name.`,
});

/** Claims outlive their EtcdCluster; a new one cannot have what its claims do not. */
function keptBy({ peer, claim }: State): Reason | undefined {
  const { accessMode, storageClassName } = peer.spec.storage;
  const differences = [
    { field: 'accessMode', wanted: accessMode, found: claim?.accessMode },
    { field: 'storageClassName', wanted: storageClassName, found: claim?.storageClassName },
  ].filter(({ wanted, found }) => wanted !== undefined && wanted !== found);
  const [first] = differences;
  if (first === undefined) return undefined;
  return {
    reason: 'ClaimKept',
    message:
      `Claim ${claim?.name ?? ''} is there already and keeps its ${first.field} ` +
      `${first.found ?? ''}; create the EtcdCluster without storage.${first.field}, or delete ` +
      'the claim and what it holds.',
  };
}

function refuseTaken({ peer, statefulSet, pod }: State): Decision | undefined {
  if (statefulSet?.isOurs === false) {
    return refuse(`Create StatefulSet ${peer.name}`, nameTaken('StatefulSet', peer.name));
  }
  if (pod?.isOurs !== false) return undefined;
  return refuse(`Start pod ${pod.name}`, nameTaken('Pod', pod.name));
}

/** Before the StatefulSet counts on the larger size. A claim without a volume cannot grow yet. */
function grow({ claim, growth }: State): Decision | undefined {
  if (growth?.isAllowed !== true || claim?.phase !== 'Bound' || claim.isEnding) return undefined;
  const { size } = growth;
  return { step: { type: 'grow', claim, size }, next: `Let claim ${claim.name} grow to ${size}` };
}

function applySet({ peer, statefulSet }: State): Decision | undefined {
  if (statefulSet?.isAsRendered === true) return undefined;
  const next = `${statefulSet === undefined ? 'Create' : 'Update'} StatefulSet ${peer.name}`;
  if (statefulSet?.isEnding !== true) return { step: { type: 'apply' }, next };
  const message = `StatefulSet ${peer.name} is being deleted; it is made anew when it is gone.`;
  return waitFor(next, [{ reason: 'StatefulSetEnding', message }]);
}

function awaitPod(state: State): Decision | undefined {
  const { peer, pod } = state;
  if (!peer.spec.running) {
    return pod === undefined ? undefined : waitFor('Nothing', [podEnds(peer.name)]);
  }
  const name = podName(peer.name);
  const next = `Start pod ${name}`;
  if (pod === undefined) {
    const where = `Events of StatefulSet ${peer.name} tell of trouble`;
    const message = `Pod ${name} is not there yet; ${where}.`;
    return waitFor(next, [{ reason: 'PodMissing', message }]);
  }
  if (pod.isEnding) return waitFor(next, [podEnds(peer.name)]);
  if (pod.isReady) return undefined;
  if (state.pending !== undefined) {
    return refuse(next, { reason: 'ClaimPending', message: state.pending });
  }
  return waitFor(next, [notReady(state)]);
}

/** Others may rely from here on on what it has in memory. */
function notePod({ peer, pod }: State): Decision | undefined {
  if (hasClaim(peer) || pod === undefined || peer.status.podUid !== undefined) return undefined;
  const { name, uid: podUid } = pod;
  return { step: { type: 'write-records', records: { podUid } }, next: `Note pod ${name}` };
}

function notReady({ claim, pod }: State): Reason {
  if (claim?.phase === 'Lost') {
    return { reason: 'VolumeLost', message: `The volume of claim ${claim.name} is lost.` };
  }
  const { name = '', trouble, unreadySince = 'it was made' } = pod ?? {};
  const message = `Pod ${name} is not ready since ${unreadySince}.`;
  if (trouble === undefined) return { reason: 'NotReady', message };
  return { reason: trouble.reason, message: `Pod ${name} does not run: ${trouble.message}.` };
}

/** The member runs, and needs a person all the same. */
function reportClaim({ claim, growth }: State): Decision | undefined {
  if (claim?.isEnding === true) {
    const { name } = claim;
    const message = `Claim ${name} was deleted: it goes, with the data in it, when its pod ends.`;
    return { next: 'Nothing', trouble: { reason: 'ClaimEnding', message } };
  }
  if (growth === undefined || growth.isAllowed) return undefined;
  const { name, size, storageClassName = 'of the cluster' } = growth.claim;
  const message =
    `Storage class ${storageClassName} does not let claims grow, so ${name} stays at ${size}; ` +
    'allow it there, or create another EtcdCluster.';
  const trouble = { reason: 'StorageCannotGrow', message };
  return { next: `Let claim ${name} grow to ${growth.size}`, trouble };
}
