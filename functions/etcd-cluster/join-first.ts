// The first member that joins those of a legacy cluster. They know of it already; it comes up with
// their data, or not at all: it is no birth, is told of them, and of the id that they have. Pure.
import { JOINS_ANNOTATION, type OldMember } from '../../shared/api/etcd-joins.ts';
import { CLUSTER_ID_ANNOTATION } from '../../shared/api/etcd-peer.ts';
import { hexOf } from '../../shared/etcd/admin/ids.ts';
import { versionIn } from '../../shared/etcd/version.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { listed, waitFor } from '../../shared/stateful/decision.ts';
import { peerName } from './cluster.ts';
import type { Decision } from './decision.ts';
import { joiningBootstrap, joiningReason, nextToJoin } from './joining.ts';
import { makePeer } from './peer-spec.ts';
import { remember } from './records.ts';
import { awayReason } from './safety.ts';
import { isInMemory, openStart } from './starts.ts';
import { peerOf, type State } from './state.ts';

/** Until the id of the cluster is in the status; `id` is that of the annotation. */
export function joinFirst(
  state: State,
  old: readonly OldMember[],
  id: string | undefined,
): Decision {
  const next = nextToJoin(old);
  const refused = refusalToJoin(state, id);
  if (refused !== undefined) return waitFor(next, [refused], refused);
  const first = peerName(state.cluster, 0);
  const peer = peerOf(state, first);
  if (peer === undefined) {
    const left = leftClaims(state);
    if (left !== undefined) return waitFor(next, [left], left);
    const bootstrap = joiningBootstrap(state, old, [first], first);
    return openStart(state, bootstrap, next) ?? makePeer(state, first, bootstrap, next);
  }
  const opened = openStart(state, peer.spec.bootstrap, next);
  if (opened !== undefined) return opened;
  const answer = state.etcd.answers.get(first);
  const { list } = state.etcd;
  if (answer === undefined || list === undefined || answer.clusterId !== list.clusterId) {
    return waitFor(next, [joiningReason(old), awayReason(state, first)]);
  }
  const clusterId = hexOf(list.clusterId);
  if (clusterId !== id) {
    const message =
      `${first} is a member of cluster ${clusterId}, and was to join cluster ${id}. Nothing is ` +
      'changed; see who made these members.';
    const trouble = { reason: 'ForeignCluster', message };
    return waitFor(next, [trouble], trouble);
  }
  return remember(
    state,
    { clusterId, joining: old },
    `Go on with the data of cluster ${clusterId}`,
  );
}

/** Why nobody may be started among these members. */
export function refusalToJoin(state: State, id: string | undefined): Reason | undefined {
  const { spec } = state.cluster;
  const refused = (why: string): Reason => ({
    reason: 'JoinsRefused',
    message: `With annotation ${JOINS_ANNOTATION} ${why}. Nothing is started.`,
  });
  if (id === undefined) return refused(`there has to be ${CLUSTER_ID_ANNOTATION}`);
  if (spec.tls.peers.mode !== 'None') {
    return refused('tls.peers.mode has to be None, as the members of before have it');
  }
  if (isInMemory(state)) return refused('storage.medium has to be Volume');
  if (spec.replicas === 0) return refused('replicas has to be 1 at least');
  return is35(spec.image)
    ? undefined
    : refused(`image has to be of etcd 3.5: ${spec.image} would end the members of before`);
}

/** Another one writes what older ones do not know, and they end for good. */
function is35(image: string): boolean {
  const version = versionIn(image);
  return version?.major === 3 && version.minor === 5;
}

/** One that was ours would have its peer. */
function leftClaims({ claims }: State): Reason | undefined {
  if (claims.length === 0) return undefined;
  const message =
    'Claims of a former cluster are there, and do not say which, or are kept aside: ' +
    `${listed(claims.map(({ name }) => name))}. Nothing is started beside them: delete them with ` +
    'their data, or choose another name.';
  return { reason: 'ClaimsUnmarked', message };
}
