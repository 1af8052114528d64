// Claims tell of the data in them whose it is, which version of etcd has last written it, and with
// which version its cluster was born. An EtcdCluster of this name that is made again goes by it.
// Pure.
import { hexOf } from '../../shared/etcd/admin/ids.ts';
import type { Decision } from './decision.ts';
import { isInMemory } from './starts.ts';
import { claimOf, type PeerClaim, type State } from './state.ts';
import { byAge, versionText } from '../../shared/etcd/version.ts';

/** Written when a member has joined, and again when it runs another version. */
export function markClaims(state: State): Decision | undefined {
  const { clusterId } = state.cluster.status;
  const { list } = state.etcd;
  if (clusterId === undefined || list === undefined || hexOf(list.clusterId) !== clusterId) {
    return undefined;
  }
  const born = bornWith(state);
  for (const [name, answer] of state.etcd.answers) {
    const claim = claimOf(state, name);
    const isMember = list.members.some(({ id }) => id === answer.memberId);
    if (claim === undefined || claim.isEnding || !isMember) continue;
    const marks = { clusterId, version: versionText(answer.version), born };
    if (isMarked(claim, marks)) continue;
    const as =
      claim.clusterId === clusterId
        ? `written by ${answer.version}`
        : `one of cluster ${clusterId}`;
    return {
      step: { type: 'mark-claim', claim, ...marks },
      next: `Mark claim ${claim.name} as ${as}`,
    };
  }
  return undefined;
}

type Marks = Pick<PeerClaim, 'clusterId' | 'version' | 'born'>;

const isMarked = (claim: Marks, { clusterId, version, born }: Marks): boolean =>
  claim.clusterId === clusterId && claim.version === version && claim.born === born;

const ownClaims = ({ claims, cluster: { status } }: State): readonly PeerClaim[] =>
  claims.filter(({ clusterId }) => clusterId !== undefined && clusterId === status.clusterId);

/** Undefined for data that somebody else brought, or of which a claim does not tell it. */
function bornWith(state: State): string | undefined {
  const own = ownClaims(state);
  const [told] = own.flatMap(({ born }) => born ?? []);
  if (told !== undefined || state.cluster.status.bootstrap === undefined) return told;
  const versions = [...state.etcd.answers.values()].flatMap(
    ({ version }) => versionText(version) ?? [],
  );
  return versions.toSorted(byAge)[0];
}

/** It began as an EtcdCluster, now or before this one was made again; so on 3.5 or later. */
export function isBornHere(state: State): boolean {
  const own = ownClaims(state);
  const isTold = own.length > 0 && own.every(({ born }) => born !== undefined);
  return state.cluster.status.bootstrap !== undefined || isTold;
}

/** Every claim, or else the status, tells that this minor version of 3 bore it, or a later one. */
export function isBornSince(state: State, minor: number): boolean {
  const own = isInMemory(state)
    ? [{ born: state.cluster.status.bootstrap?.version }]
    : ownClaims(state);
  const isTold = ({ born = '' }: Pick<PeerClaim, 'born'>): boolean =>
    Number(born.split('.')[1]) >= minor;
  return own.length > 0 && own.every(isTold);
}
