// The image of a peer that is to be made. It is never the first to run another minor version: one
// that joins has that of the others, and one whose claim has data that of the data. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { isInMemory } from './starts.ts';
import { claimOf, type PeerClaim, type State } from './state.ts';
import { imageGate, oldestRunning, refuse, shown } from './upgrade.ts';
import {
  byAge,
  compare,
  isOtherMinor,
  isSameMinor,
  type Version,
  versionIn,
} from '../../shared/etcd/version.ts';

/** Or why there is none. */
export function imageForNew(state: State, name: string): string | Reason {
  const { spec, status } = state.cluster;
  const own = state.peers.filter(({ isOurs }) => isOurs).map((peer) => peer.spec.image);
  const gate = imageGate(state);
  // Without a peer nothing runs that the image would have to follow, but for the data.
  const mayGet = own.length === 0 || gate === undefined ? [spec.image, ...own] : own;
  // It comes in place of another one, and may get what that one may.
  if (isInMemory(state) && gate === undefined) return spec.image;
  // Where another one is lost it is of use as it is.
  if (isInMemory(state) && gate?.isPassing === true && state.lost.size === 0) return gate.why;
  const claim = claimOf(state, name);
  if (status.clusterId !== undefined && claim?.clusterId === status.clusterId) {
    return imageForData(state, claim, mayGet);
  }
  const oldest = oldestRunning(state);
  const fitting = mayGet.find((one) => oldest === undefined || !isOtherMinor(oldest, one));
  return fitting ?? gate?.why ?? refuse(`No member has an image of ${oldest ?? ''}.`).why;
}

function imageForData(state: State, claim: PeerClaim, mayGet: readonly string[]): string | Reason {
  const { status, spec } = state.cluster;
  const claims = state.claims.filter((one) => one.clusterId === status.clusterId && !one.isEnding);
  const unknown = claims.find(({ version }) => version === undefined);
  if (unknown !== undefined) {
    return refuse(
      `Claim ${unknown.name} does not tell which etcd wrote it, so nothing is started on it. ` +
        'Annotate it with ballast.dev/etcd-version, such as 3.6.16.',
    ).why;
  }
  const data = versionIn(claim.version ?? '');
  const newest = versionIn(
    claims
      .flatMap(({ version }) => version ?? [])
      .toSorted(byAge)
      .at(-1) ?? '',
  );
  if (data === undefined || newest === undefined) return spec.image;
  const follows = (image: string): boolean =>
    image !== spec.image || state.peers.length > 0 || compare(versionIn(image), newest) >= 0;
  const fitting =
    mayGet.find((one) => follows(one) && isLater(data, one)) ??
    mayGet.find((one) => follows(one) && endsUpgrade(data, newest, one));
  return fitting ?? refuse(whyNot(spec.image, claim, data, newest)).why;
}

function isLater(data: Version, image: string): boolean {
  const wanted = versionIn(image);
  return wanted !== undefined && isSameMinor(data, wanted) && compare(wanted, data) >= 0;
}

/** Claims of an upgrade that was not through: it had been found to be safe, so it is ended. */
const endsUpgrade = (data: Version, newest: Version, image: string): boolean =>
  isLater(newest, image) && newest.major === data.major && newest.minor - data.minor === 1;

function whyNot(image: string, { name }: PeerClaim, data: Version, newest: Version): string {
  return (
    `Claim ${name} has data of etcd ${shown(data)}, and nothing is started on it with ${image}. ` +
    `Set image to that of ${shown(newest)}, or to a later patch version of it; once the members ` +
    'are Ready go on from there, one minor version at a time.'
  );
}
