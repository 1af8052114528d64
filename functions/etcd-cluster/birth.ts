// The one birth of a cluster, and its return when its EtcdCluster was deleted and made again. A
// second birth would answer with an empty database where data was, so the first member of all is
// made once: recorded before, and never after an id of the cluster is known. Pure.
import { claimName } from '../../shared/api/etcd-names.ts';
import { CLUSTER_ID_ANNOTATION } from '../../shared/api/etcd-peer.ts';
import { hexOf } from '../../shared/etcd/admin/ids.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { isYoung } from '../../shared/stateful/conditions.ts';
import { listed, waitFor } from '../../shared/stateful/decision.ts';
import { peerName } from './cluster.ts';
import type { Decision } from './decision.ts';
import { joinFirst } from './join-first.ts';
import { joinsOf } from './joins.ts';
import { existingBootstrap, makePeer, newBootstrap, specOf } from './peer-spec.ts';
import { remember } from './records.ts';
import { correct } from './roll.ts';
import { awayReason } from './safety.ts';
import { isInMemory, openStart } from './starts.ts';
import {
  byOrdinal,
  claimOf,
  namesOf,
  type Peer,
  type PeerClaim,
  peerOf,
  type State,
  type Stray,
} from './state.ts';
import { labelLost } from './strays.ts';
import { versionText } from '../../shared/etcd/version.ts';

/** Far more than an election takes. */
const ELECTED_WITHIN_MS = 60_000;

/** Until the id of the cluster is in the status. */
export function beBorn(state: State): Decision | undefined {
  const { status, spec } = state.cluster;
  if (status.clusterId !== undefined) return undefined;
  const former = awaitFormer(state);
  if (former !== undefined) return former;
  if (isInMemory(state) && state.claims.length > 0) return refuseClaims(state);
  // One without a mark may be that of anybody, and etcd-peer refuses it by its name.
  const stray = state.strays.find((one) => one.kind === 'Claim' && one.clusterId !== undefined);
  if (stray !== undefined) return refuseStray(state, stray);
  const ids = new Set(withData(state).flatMap(({ clusterId }) => clusterId ?? []));
  const [known] = ids;
  if (ids.size > 1) return refuseDiffering(state);
  const restored = restoredId(state);
  const joins = joinsOf(state.cluster);
  if (joins !== undefined) {
    if ('reason' in joins) return waitFor('Start the first member', [joins], joins);
    if (known === undefined) return joinFirst(state, joins, restored);
  }
  if (restored !== undefined && restored !== known) return awaitRestored(state, restored);
  if (known !== undefined) return rememberId(state, known);
  if (spec.replicas === 0 && state.peers.length === 0) return { next: 'Nothing' };
  if (spec.replicas === 0) return undefined;
  const seed = status.bootstrap?.seed ?? peerName(state.cluster, 0);
  const unmarked = refuseUnmarked(state, seed);
  if (unmarked !== undefined) return unmarked;
  if (status.bootstrap === undefined) {
    const bootstrap = { seed, since: timestamp(state.nowMs) };
    return remember(state, { bootstrap }, `Start ${seed}, the first member`);
  }
  return startSeed(state, seed);
}

/** Peers of a former EtcdCluster of this name still have the pods and the claims. */
function awaitFormer(state: State): Decision | undefined {
  const former = state.peers.filter(({ isOurs }) => !isOurs);
  if (former.length === 0) return undefined;
  const names = listed(former.map(({ name }) => name));
  const message =
    `EtcdPeer ${names}: made for another EtcdCluster of this name, and not gone yet. If its ` +
    'EtcdCluster is gone, so are they in a minute; else choose another name.';
  const taken = { reason: 'NameTaken', message };
  const trouble = isYoung(state.cluster.object, state.nowMs) ? undefined : taken;
  return waitFor('Start the first member', [taken], trouble);
}

/** It may have the data of a cluster of before. */
function refuseStray(state: State, stray: Stray): Decision {
  const trouble = labelLost(state, stray);
  return waitFor('Start the first member', [trouble], trouble);
}

const withData = ({ claims }: State): readonly PeerClaim[] =>
  claims.filter(({ clusterId, isEnding }) => clusterId !== undefined && !isEnding);

function refuseDiffering(state: State): Decision {
  const found = withData(state).map(({ name, clusterId }) => `${name} of ${clusterId ?? ''}`);
  const message =
    `Claims of this name hold the data of more than one cluster: ${listed(found)}. Delete those ` +
    'that are not wanted, with their data, or rename the EtcdCluster.';
  const trouble = { reason: 'ClaimsDiffer', message };
  return waitFor('Start from the claims', [trouble], trouble);
}

/** It is to start with the data of this cluster, and no other: etcd-restore has made it. */
const restoredId = ({ cluster: { object } }: State): string | undefined =>
  object.metadata.annotations?.[CLUSTER_ID_ANNOTATION];

function awaitRestored(state: State, id: string): Decision {
  const { object, name } = state.cluster;
  const message =
    `No claim has the data of cluster ${id}, with which ${name} is to start. It goes on when its ` +
    'EtcdRestore has brought that. Nothing is started before, for it would come up empty: if ' +
    'that is gone for good, delete this EtcdCluster and create another EtcdRestore, or take the ' +
    `annotation ${CLUSTER_ID_ANNOTATION} away to begin with an empty database.`;
  const waits = { reason: 'RestoredDataMissing', message };
  const trouble = isYoung(object, state.nowMs) ? undefined : waits;
  return waitFor('Start from the restored data', [waits], trouble);
}

/** There is one claim at most before the birth: others were made by a cluster of before. */
function refuseUnmarked({ claims }: State, seed: string): Decision | undefined {
  const others = claims.filter(({ name, isKeptAside }) => isKeptAside || name !== claimName(seed));
  if (others.length === 0) return undefined;
  const message =
    'Claims of a former cluster are there, and do not say which, or are kept aside: ' +
    `${listed(others.map(({ name }) => name))}. Nothing is started beside them, for it would ` +
    'come up empty: delete them with their data, or choose another name.';
  const trouble = { reason: 'ClaimsUnmarked', message };
  return waitFor('Start the first member', [trouble], trouble);
}

/** Somebody may want their data, and nothing here would show that it is there. */
function refuseClaims({ claims }: State): Decision {
  const message =
    'Claims of a former cluster of this name are there, and this one is to be in memory: ' +
    `${listed(claims.map(({ name }) => name))}. To go on with their data make it anew with ` +
    'storage.medium Volume; else delete them with their data, or choose another name.';
  const trouble = { reason: 'ClaimsLeft', message };
  return waitFor('Start the first member', [trouble], trouble);
}

/** Made again while members of before may be left: the list will tell. */
function rememberId(state: State, clusterId: string): Decision {
  const joins = joinsOf(state.cluster);
  const joining = joins === undefined || 'reason' in joins ? {} : { joining: joins };
  return remember(state, { clusterId, ...joining }, `Go on with the data of cluster ${clusterId}`);
}

function startSeed(state: State, seed: string): Decision {
  const next = `Start ${seed}, the first member`;
  const peer = peerOf(state, seed);
  if (peer === undefined) {
    const bootstrap = newBootstrap(state, seed);
    const spec = specOf(state, seed, bootstrap);
    return (
      openStart(state, bootstrap, next) ?? { step: { type: 'make-peer', name: seed, spec }, next }
    );
  }
  if (hasLostAll(state, seed)) return startAnew(state, peer, next);
  // Somebody deleted the Secret: it is as new as before.
  const opened = openStart(state, peer.spec.bootstrap, next);
  if (opened !== undefined) return opened;
  const corrected = correct(state, peer, next);
  if (corrected !== undefined) return corrected;
  const answer = state.etcd.answers.get(seed);
  const { list } = state.etcd;
  if (answer === undefined || list === undefined || answer.clusterId !== list.clusterId) {
    return waitFor(next, [awayReason(state, seed)]);
  }
  const { bootstrap } = state.cluster.status;
  const version = isInMemory(state) ? versionText(answer.version) : undefined;
  const born = bootstrap && version !== undefined ? { bootstrap: { ...bootstrap, version } } : {};
  return remember(
    state,
    { clusterId: hexOf(list.clusterId), ...born },
    `Go on with the data of cluster ${hexOf(list.clusterId)}`,
  );
}

/** One that is left would be taken again, whatever became of its volume. */
const hasLostAll = (state: State, seed: string): boolean =>
  state.lost.has(seed) && claimOf(state, seed) === undefined;

/** Clients have not been let in yet, so nobody loses what it had. */
function startAnew(state: State, peer: Peer, next: string): Decision {
  if (!peer.isEnding) return { step: { type: 'delete-peer', peer }, next };
  return waitFor(next, [awayReason(state, peer.name)]);
}

/** Claims with data whose peers are missing, and the refusal to go on where none is left. */
export const bringBack = (state: State): Decision | undefined =>
  bringBackMissing(state) ?? refuseGone(state);

/** The EtcdCluster was made again, or somebody erred. */
export function bringBackMissing(state: State): Decision | undefined {
  const { clusterId, leaving } = state.cluster.status;
  if (clusterId === undefined) return undefined;
  const former = awaitFormer(state);
  if (former !== undefined) return former;
  const own = withData(state).filter((one) => one.clusterId === clusterId);
  const names = own.map(({ name }) => name.slice(claimName('').length)).toSorted(byOrdinal);
  const missing = names.find((name) => peerOf(state, name) === undefined && leaving?.peer !== name);
  if (missing === undefined) return undefined;
  // With itself alone in the list an empty volume finds no cluster, and cannot join under the id
  // that its member had.
  const next = `Bring back ${missing}`;
  return makePeer(state, missing, existingBootstrap(state, [missing]), next);
}

/** No claim is left of a cluster that had data: starting anew would hide that it is gone. */
function refuseGone(state: State): Decision | undefined {
  const { clusterId, members = [] } = state.cluster.status;
  if (clusterId === undefined) return undefined;
  if (isInMemory(state)) return refuseForgotten(state);
  const isLeft = state.claims.some(({ isEnding, isKeptAside }) => !isEnding && !isKeptAside);
  if (isLeft || state.etcd.list !== undefined) return undefined;
  // Before its claim is marked, the first member has a claim all the same.
  if (state.peers.some(({ name }) => claimOf(state, name) !== undefined)) return undefined;
  const kept = state.claims.filter(({ isKeptAside }) => isKeptAside).map(({ name }) => name);
  const had =
    (members.length === 0 ? '' : ` It had ${members.length} members.`) +
    (kept.length === 0 ? '' : ` Claims ${listed(kept)} are kept aside, with data of before.`);
  const message =
    `All claims with the data of cluster ${clusterId} are gone, and no member answers.${had} ` +
    'Nothing is started, for it would come up empty: restore a backup into another EtcdCluster, ' +
    'or delete this one and create it anew to begin with an empty database.';
  const trouble = { reason: 'DataGone', message };
  return waitFor('Nothing', [trouble], trouble);
}

/** No member goes on alone: it would have to restart, and lose what it has. */
function refuseForgotten(state: State): Decision | undefined {
  const { clusterId = '', quorumLostSince = '' } = state.cluster.status;
  if (state.etcd.list !== undefined) return undefined;
  const voters = lastVoters(state);
  const gone = voters.flatMap((name) => state.lost.get(name) ?? []);
  const kept = voters.filter((name) => !state.lost.has(name));
  // In an election nobody answers for a moment.
  const isLate = state.nowMs - Date.parse(quorumLostSince) > ELECTED_WITHIN_MS;
  if (kept.length > gone.length || (kept.length > 0 && !isLate)) return undefined;
  const trouble = lostInMemory(clusterId, gone, kept);
  return waitFor('Nothing', [trouble], trouble);
}

/** As a member still sees them, or else as they were. A learner is no part of a quorum. */
function lastVoters(state: State): readonly string[] {
  const [view] = state.etcd.views.values();
  const seen = view?.members.filter(({ isLearner }) => !isLearner);
  if (seen !== undefined) return namesOf(state, seen);
  const { members = [] } = state.cluster.status;
  return members.flatMap(({ name, startingSince }) => (startingSince === undefined ? name : []));
}

function lostInMemory(clusterId: string, gone: readonly string[], kept: readonly string[]): Reason {
  const anew =
    'into another EtcdCluster; or delete this one, and create it anew to begin with an empty ' +
    'database.';
  if (kept.length === 0) {
    const message =
      `Cluster ${clusterId} had its data in memory, and no member has it any more. ` +
      `${gone.join(' ')} Nothing starts, for it would come up empty: restore a backup ${anew}`;
    return { reason: 'DataGone', message };
  }
  const message =
    `Too few members of cluster ${clusterId} have what they had in memory. ${gone.join(' ')} ` +
    'Nobody can write, and nobody can be forced to go on alone, for that takes a restart. Save ' +
    `what is left with etcdctl snapshot save at the pod of ${listed(kept)}, and restore it ${anew}`;
  return { reason: 'QuorumLost', message };
}
