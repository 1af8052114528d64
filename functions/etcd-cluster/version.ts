// Versions of etcd, and which of them may follow which. A member that has written what another
// version cannot read ends for good, so what is not known to be safe is refused. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { answerOf, byOrdinal, peerNameOf, type State, votersOf } from './state.ts';

export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

function versionIn(text: string): Version | undefined {
  const [, major, minor, patch] = /(?:^|:v?)(\d+)\.(\d+)\.(\d+)[^/]*$/.exec(text) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  return { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

/** Before 3.5.26 a member may hand stale learners and removed members to a 3.6. */
const LEAVES_3_5 = 26;

/** The reason why members must not get the image of the spec; undefined when they may. */
export function refusedImage(state: State): Reason | undefined {
  const { image } = state.cluster.spec;
  const wanted = versionIn(image);
  const running = runningVersions(state);
  if (wanted === undefined) return undefined;
  for (const [name, text] of running) {
    const version = versionIn(text);
    const why = version && refusal(version, wanted, state);
    if (why !== undefined) {
      const message = `${name} runs ${text}, and ${image} is ${why}`;
      return { reason: 'UpgradeRefused', message };
    }
  }
  return undefined;
}

/** Those of members that are silent now count too: their files stay. */
function runningVersions(state: State): readonly (readonly [string, string])[] {
  const told = votersOf(state).flatMap((member) => {
    const version = answerOf(state, member)?.version;
    const name = peerNameOf(state, member);
    return version === undefined || name === undefined ? [] : [[name, version] as const];
  });
  const silent = (state.cluster.status.members ?? []).flatMap(({ name, version }) =>
    version === undefined || told.some(([one]) => one === name) ? [] : [[name, version] as const],
  );
  return [...told, ...silent].toSorted(([a], [b]) => byOrdinal(a, b));
}

function refusal(from: Version, to: Version, state: State): string | undefined {
  if (from.major !== to.major) return 'another major version. Restore a backup into a new cluster.';
  const minors = to.minor - from.minor;
  if (minors < 0 || (minors === 0 && to.patch < from.patch)) {
    return 'older: it may not read what was written. Choose a later one, or restore a backup.';
  }
  if (minors > 1) return `${minors} minor versions further. Go through each one between them.`;
  if (minors === 1 && from.minor === 5 && from.patch < LEAVES_3_5) {
    return `not to be reached from before 3.5.${LEAVES_3_5}. Go to 3.5.${LEAVES_3_5} first.`;
  }
  if (minors === 1 && from.minor === 5 && state.cluster.status.bootstrap === undefined) {
    return (
      'only safe for a cluster that began on 3.5 or later, which its claims do not tell: members ' +
      'that grew up from 3.4 have ended for good. Restore a backup into a new EtcdCluster.'
    );
  }
  return undefined;
}

/** `3.6.16`, or `3.6.16 to 3.7.3` while members differ. */
export function shownVersion(versions: readonly string[]): string | undefined {
  const distinct = [...new Set(versions)].toSorted((a, b) => compare(versionIn(a), versionIn(b)));
  const [oldest] = distinct;
  const newest = distinct.at(-1);
  return oldest === newest ? oldest : `${oldest ?? ''} to ${newest ?? ''}`;
}

const numberOf = ({ major, minor, patch }: Version): number =>
  (major * 1_000 + minor) * 1_000 + patch;

const compare = (a: Version | undefined, b: Version | undefined): number =>
  (a === undefined ? 0 : numberOf(a)) - (b === undefined ? 0 : numberOf(b));
