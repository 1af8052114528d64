// Replaces a member that cannot start with its data: after three starts that end with the words
// of etcd for it, while all others are healthy, and once. Its claim is kept aside, and no second
// member is replaced for this reason before a person has deleted that claim. Pure.
import { timestamp } from '../../shared/kube/timestamp.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import type { Crash } from '../../shared/stateful/pods.ts';
import type { Decision } from './decision.ts';
import { leavingRecord } from './leave.ts';
import { forget, remember } from './records.ts';
import { refusalIn, REFUSES } from './refusal.ts';
import { isPodCurrent, isRendered } from './outdated.ts';
import { removalBlockers, unknownReason } from './safety.ts';
import { claimOf, memberOf, type Peer, type PeerClaim, podOf, type State } from './state.ts';
import { compare, versionIn } from '../../shared/etcd/version.ts';

/** After the first that was seen: each is seen once at least, and the kubelet waits in between. */
const MORE_STARTS = 2;

interface Refusing {
  readonly peer: Peer;
  readonly memberId: string;
  readonly claim: PeerClaim;
  readonly podUid: string;
  readonly crash: Crash;
  readonly why: string;
}

export function replaceRefusing(state: State): Decision | undefined {
  if (unknownReason(state) !== undefined) return undefined;
  const passed = forgetPassed(state);
  if (passed !== undefined) return passed;
  const found = refusingVoter(state);
  const { refusing, refused } = state.cluster.status;
  if (found === undefined || refused !== undefined || isBusy(state, found)) return undefined;
  const { peer, podUid, crash } = found;
  const { restarts, isUp } = crash;
  const next = `Replace ${peer.name}`;
  if (refusing?.podUid !== podUid) {
    const since = timestamp(state.nowMs);
    return remember(state, { refusing: { peer: peer.name, podUid, restarts, since } }, next);
  }
  if (isUp || restarts < refusing.restarts + MORE_STARTS) return undefined;
  const reasons = removalBlockers(state, found.memberId);
  return reasons.length > 0 ? waitFor(next, reasons) : record(state, found, next);
}

function record(state: State, found: Refusing, next: string): Decision {
  const { peer, memberId, why, claim } = found;
  const leaving = leavingRecord(state, peer, { memberId, reason: REFUSES });
  const at = timestamp(state.nowMs);
  const refused = { peer: peer.name, claim: claim.name, claimUid: claim.uid, why, at };
  return forget(state, ['refusing'], next, { leaving, refused });
}

/** A second one is told, and not replaced: something spoils the data of one after the other. */
export function reportRefusing(state: State): Decision | undefined {
  const { refused, leaving } = state.cluster.status;
  const found = refusingVoter(state);
  if (found === undefined || refused === undefined || leaving !== undefined) return undefined;
  const message =
    `${found.peer.name} refuses its data: ${found.why}. ${refused.peer} did so before, and was ` +
    `replaced at ${refused.at}. One member is replaced for this by itself: see what spoils their ` +
    `data. Delete claim ${refused.claim}, which is kept aside, and ${found.peer.name} is, too.`;
  const trouble = { reason: 'DataRefused', message };
  return waitFor(`Replace ${found.peer.name}`, [trouble], trouble);
}

function refusingVoter(state: State): Refusing | undefined {
  for (const peer of state.peers) {
    const member = memberOf(state, peer.name);
    const found = member?.isLearner === false ? refusalOf(state, peer, member.id) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A pod as it is meant to be refuses the data that its member wrote, with the same version. */
function refusalOf(state: State, peer: Peer, memberId: string): Refusing | undefined {
  const pod = podOf(state, peer.name);
  const claim = claimOf(state, peer.name);
  const { crash } = pod ?? {};
  const why = refusalIn(crash);
  if (pod === undefined || claim === undefined || crash === undefined || why === undefined) {
    return undefined;
  }
  const isCurrent = isRendered(peer) && isPodCurrent(state, peer) && !pod.isReady && !pod.isEnding;
  const isProof = isCurrent && isItsOwn(state, peer, claim) && isOfItsVersion(peer, claim);
  if (!isProof || state.etcd.answers.has(peer.name)) return undefined;
  return { peer, memberId, claim, podUid: pod.uid, crash, why };
}

function isItsOwn(state: State, { name, isOurs, isEnding, status }: Peer, claim: PeerClaim) {
  const isOfCluster = claim.clusterId === state.cluster.status.clusterId;
  const isThere = claim.phase === 'Bound' && !claim.isEnding && !state.lost.has(name);
  return isOurs && !isEnding && isOfCluster && isThere && claim.uid === status.claimUid;
}

function isOfItsVersion({ spec: { image } }: Peer, claim: PeerClaim): boolean {
  const [runs, wrote] = [versionIn(image), versionIn(claim.version ?? '')];
  return runs !== undefined && wrote !== undefined && compare(runs, wrote) === 0;
}

/** Another change may be why it ends; its own restart is not, with the version that it had. */
function isBusy({ cluster: { status } }: State, { peer }: Refusing): boolean {
  const { leaving, restarting, recovering, defragmenting, compacting } = status;
  const others = [leaving, recovering, defragmenting, compacting];
  const isOther = restarting !== undefined && restarting.peer !== peer.name;
  return isOther || others.some((one) => one !== undefined);
}

/** The pod is another one, or ready again; or somebody has deleted the claim that was kept. */
function forgetPassed(state: State): Decision | undefined {
  const { refusing, refused, leaving } = state.cluster.status;
  const pod = refusing && podOf(state, refusing.peer);
  if (refusing !== undefined && (pod?.uid !== refusing.podUid || pod.isReady)) {
    return forget(state, ['refusing'], `Leave ${refusing.peer} in its place`);
  }
  if (refused === undefined || leaving?.peer === refused.peer) return undefined;
  const claim = state.claims.find(({ uid }) => uid === refused.claimUid);
  if (claim?.isKeptAside === true) return undefined;
  return forget(state, ['refused'], `Forget the data of ${refused.peer}`);
}
