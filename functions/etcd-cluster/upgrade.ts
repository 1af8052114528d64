// Which image members may get, after which. A member that has written what another version cannot
// read ends for good, and one that sees other members than the rest may take a quorum with it, so
// what is not known to be safe is refused, and the message has the way out. Pure.
import { hexOf } from '../../shared/etcd/admin/ids.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { isBornHere, isBornSince } from './claim-marks.ts';
import type { Member, View } from './etcd-state.ts';
import { oncePerState } from './once-per-state.ts';
import { isInMemory } from './starts.ts';
import {
  answerOf,
  byOrdinal,
  claimOf,
  memberOf,
  membersOf,
  type Peer,
  peerNameOf,
  type State,
  votersOf,
} from './state.ts';
import {
  byAge,
  isOtherMinor,
  isSameMinor,
  type Version,
  versionIn,
} from '../../shared/etcd/version.ts';

/** Before 3.5.26 a member may hand stale learners and removed members to a 3.6. */
const LEAVES_3_5 = 26;

/** Why members must not get the image of the spec now. */
export interface ImageGate {
  readonly why: Reason;
  /** It opens by itself; any other needs a person. */
  readonly isPassing: boolean;
}

/** Undefined when they may. */
export const imageGate = oncePerState(findGate);

function findGate(state: State): ImageGate | undefined {
  const { image } = state.cluster.spec;
  const wanted = versionIn(image);
  const running = runningVersions(state);
  if (wanted === undefined) return undefined;
  const rewriting = rewritingGate(state, wanted);
  if (rewriting !== undefined) return rewriting;
  for (const [name, text] of running) {
    const version = versionIn(text);
    const why = version && refusal(version, wanted, state);
    if (why !== undefined) return refuse(`${name} runs ${text}, and ${image} is ${why}`);
  }
  const [oldest] = running.map(([, text]) => text).toSorted(byAge);
  if (oldest === undefined || !running.some(([, text]) => isOtherMinor(text, image))) {
    return undefined;
  }
  return viewsGate(state, wanted);
}

export const refuse = (message: string): ImageGate => ({
  why: { reason: 'UpgradeRefused', message },
  isPassing: false,
});

type Running = readonly (readonly [peer: string, version: string])[];

const runningVersions = oncePerState(readRunning);

/** Those of members that are silent now count too: their files stay. */
function readRunning(state: State): Running {
  const { members = [] } = state.cluster.status;
  const told = votersOf(state).flatMap((member) => {
    const name = peerNameOf(state, member);
    if (name === undefined) return [];
    const known = members.find((one) => one.name === name)?.version;
    const version = answerOf(state, member)?.version ?? known ?? claimOf(state, name)?.version;
    return version === undefined ? [] : [[name, version] as const];
  });
  const silent = members.flatMap(({ name, version }) =>
    version === undefined || told.some(([one]) => one === name) ? [] : [[name, version] as const],
  );
  return [...told, ...silent].toSorted(([a], [b]) => byOrdinal(a, b));
}

function refusal(from: Version, to: Version, state: State): string | undefined {
  if (from.major !== to.major) return 'another major version. Restore a backup into a new cluster.';
  const minors = to.minor - from.minor;
  if (minors < 0 && isInMemory(state)) return NO_WAY_BACK;
  if (minors === -1 && (isTurningBack(state, to) || isGoingDown(state, to))) return undefined;
  if (minors < 0) {
    return (
      'older: it does not read what was written. Choose a later one, restore a backup, or let ' +
      `etcd rewrite its files first: etcdctl downgrade enable ${from.major}.${from.minor - 1}.`
    );
  }
  if (minors === 0 && to.patch < from.patch) {
    return `older: it may not read what was written. Choose ${shown(from)}, or a later one.`;
  }
  if (minors > 1) {
    const between = `${from.major}.${from.minor + 1}`;
    return `${minors} minor versions further. Go through each one between them: ${between} first.`;
  }
  return minors === 1 ? refusalUp(from, state) : undefined;
}

/** Tried: a 3.5.35 did not come up among members of 3.6.16 that etcd had told to go down. */
const NO_WAY_BACK =
  'older: in memory another member would join, and one of an older version does not come up ' +
  'among these. Choose a later one, or restore a backup into a new cluster.';

export const shown = ({ major, minor, patch }: Version): string => `${major}.${minor}.${patch}`;

function refusalUp(from: Version, state: State): string | undefined {
  const told = [...state.etcd.answers.values()].find((one) => one.downgradeTo !== undefined);
  if (told?.downgradeTo !== undefined) {
    return (
      `newer, while etcd is told to go down to ${told.downgradeTo}. Finish that, or end it: ` +
      'etcdctl downgrade cancel.'
    );
  }
  if (from.minor === 6 && !isBornSince(state, 6)) {
    // Tried: it ends at the first such entry that is left in the log, each time it starts.
    return (
      'not safe for a cluster that was born before 3.6, or does not tell: a 3.7 cannot read what ' +
      'a 3.5 wrote into the log of Raft. Restore a backup into a new EtcdCluster.'
    );
  }
  if (from.minor !== 5) return undefined;
  if (from.patch < LEAVES_3_5) {
    return `not to be reached from before 3.5.${LEAVES_3_5}. Go to 3.5.${LEAVES_3_5} first.`;
  }
  if (isBornHere(state)) return undefined;
  return (
    'only safe for a cluster that began on 3.5 or later, which its claims do not tell: members ' +
    'that grew up from 3.4 have ended for good. Restore a backup into a new EtcdCluster.'
  );
}

/**
 * An upgrade that is not through: as long as one member runs the version before, all members write
 * as that one does, and etcd lets each of them go back.
 */
function isTurningBack(state: State, to: Version): boolean {
  const answers = votersOf(state).flatMap((member) => answerOf(state, member) ?? []);
  const isOld = ({ version }: { readonly version: string }): boolean => isMinor(version, to);
  return answers.some(isOld) && isSpokenBy(state, to);
}

/** etcd was told to go down, and every member has rewritten its files for it. */
function isGoingDown(state: State, to: Version): boolean {
  const voters = votersOf(state);
  const isReady = voters.every((member) => {
    const { version = '', downgradeTo = '', storageVersion = '' } = answerOf(state, member) ?? {};
    const isRewritten = isMinor(downgradeTo, to) && isMinor(storageVersion, to);
    return isMinor(version, to) || isRewritten;
  });
  return voters.length > 0 && isReady && isSpokenBy(state, to);
}

/** From the call on it takes etcd seconds, and a snapshot, until the last of them has. */
function rewritingGate(state: State, to: Version): ImageGate | undefined {
  const isTold = [...state.etcd.answers.values()].some(({ downgradeTo = '' }) =>
    isMinor(downgradeTo, to),
  );
  if (!isTold || isGoingDown(state, to)) return undefined;
  const message = `etcd goes down to ${shown(to)}, and not every member has rewritten its files.`;
  return awaited('DowngradeUnderWay', message);
}

/**
 * One of their version does not find those compatible that were told to go down (tried on 3.6.16);
 * one of the older version does, once another one runs it.
 */
export function goingDownReason(state: State): Reason | undefined {
  const { answers } = state.etcd;
  const told = [...answers.values()].find(({ downgradeTo }) => downgradeTo !== undefined);
  const oldest = oldestRunning(state) ?? '';
  if (told?.downgradeTo === undefined || !isOtherMinor(oldest, told.downgradeTo)) return undefined;
  const message =
    `etcd was told to go down to ${told.downgradeTo}, and nobody joins before it has. Set image ` +
    'to that version, or end it: etcdctl downgrade cancel.';
  return { reason: 'DowngradeUnderWay', message };
}

function isMinor(text: string, wanted: Version): boolean {
  const version = versionIn(text);
  return version !== undefined && isSameMinor(version, wanted);
}

/** Every member that tells how it sees the cluster says that this is the version it speaks. */
const isSpokenBy = ({ etcd: { views } }: State, to: Version): boolean =>
  views.size > 0 &&
  [...views.values()].every(({ clusterVersion = '' }) => isMinor(clusterVersion, to));

/** All members have to see the same members, and to speak the version of the oldest of them. */
function viewsGate(state: State, wanted: Version): ImageGate | undefined {
  const answering = votersOf(state).flatMap((member) => {
    const name = peerNameOf(state, member);
    const answer = answerOf(state, member);
    return name === undefined || answer === undefined ? [] : [{ name, answer }];
  });
  const unseen = answering.find(({ name }) => !state.etcd.views.has(name));
  if (unseen !== undefined || answering.length === 0) {
    const who = unseen?.name ?? 'No member';
    return awaited('ViewUnknown', `${who} has yet to tell which members it sees.`);
  }
  for (const { name } of answering) {
    const view = state.etcd.views.get(name);
    const differing = view && differenceOf(state, name, view);
    if (differing !== undefined) return refuse(differing);
  }
  const versions = [...answering.map(({ answer }) => answer.version), shown(wanted)];
  const lowest = versionIn(versions.toSorted(byAge)[0] ?? '') ?? wanted;
  return spokenGate(state, lowest);
}

const awaited = (reason: string, message: string): ImageGate => ({
  why: { reason, message },
  isPassing: true,
});

function spokenGate({ etcd: { views } }: State, lowest: Version): ImageGate | undefined {
  const minor = `${lowest.major}.${lowest.minor}`;
  for (const [name, { clusterVersion }] of views) {
    if (clusterVersion !== undefined && isMinor(clusterVersion, lowest)) continue;
    return awaited(
      'ClusterVersionDiffers',
      `For ${name} the version of the cluster is ${clusterVersion ?? 'not known'}, and it has to ` +
        `be ${minor} before another one may follow. The leader raises it within seconds when ` +
        'every member answers it; if it does not, see its log.',
    );
  }
  return undefined;
}

/** A member that a 3.6 shows as a learner, or shows again, makes it count a quorum otherwise. */
function differenceOf(state: State, name: string, { members }: View): string | undefined {
  const all = textOf(membersOf(state));
  const own = textOf(members);
  if (all === own) return undefined;
  return (
    `${name} sees other members than a quorum does (${own}, and not ${all}), so another minor ` +
    'version is not safe now. Compare etcdctl member list --consistency=s of each member; with ' +
    `the others whole, delete the claim and the pod of ${name}, and it is replaced.`
  );
}

const textOf = (members: readonly Member[]): string =>
  members
    .map(({ id, isLearner, peerUrls }) => {
      const role = isLearner ? ' learner' : '';
      return `${hexOf(id)}${role} ${peerUrls.toSorted().join(' ')}`;
    })
    .toSorted()
    .join(', ');

/** The image that a peer should have now. */
export function imageFor(state: State, { name, spec }: Peer): string {
  const { image } = state.cluster.spec;
  if (imageGate(state) !== undefined) return spec.image;
  // It becomes a voter first, of the version that all speak.
  const isLearner = memberOf(state, name)?.isLearner === true;
  const oldest = oldestRunning(state);
  const isAhead = isLearner && oldest !== undefined && isOtherMinor(oldest, image);
  return isAhead ? spec.image : image;
}

export const oldestRunning = (state: State): string | undefined =>
  runningVersions(state)
    .map(([, text]) => text)
    .toSorted(byAge)[0];
