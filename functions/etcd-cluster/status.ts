// Computes the status of a cluster from the state and the decision. Pure; equal input gives an
// equal status, so a cluster at rest is not written at all.
import type { EtcdClusterStatus, MemberStatus } from '../../shared/api/etcd-cluster.ts';
import { cut } from '../../shared/cut.ts';
import { hexOf } from '../../shared/etcd/admin/ids.ts';
import { selectorText } from '../../shared/kube/label-selector.ts';
import { quantityOf } from '../../shared/kube/quantity.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { type Contacts, silentSince, withContact } from '../../shared/stateful/contacts.ts';
import type { StatusUpdate } from '../../shared/stateful/write-status.ts';
import { backupsOf } from './backups/ready.ts';
import { conditionsOf } from './conditions.ts';
import { selectorOf } from './cluster.ts';
import type { Decision } from './decision.ts';
import { quotaBytesOf } from './defragment.ts';
import { withMeasures } from './measures.ts';
import { proposalOf } from './recovery-plan.ts';
import { isOutdated } from './outdated.ts';
import { unaskedReason, unhealthyReason } from './safety.ts';
import {
  answerOf,
  byOrdinal,
  leaderOf,
  memberOf,
  peerNameOf,
  peerOf,
  podOf,
  type Records,
  type State,
  votersOf,
} from './state.ts';
import { shownVersion } from '../../shared/etcd/version.ts';

/** `kubectl get` shows it in a table. */
const WAITS_BYTES_MAX = 2_000;

export function statusUpdateOf(
  state: State,
  decision: Decision,
  records: Records,
  contacts: Contacts,
): StatusUpdate<EtcdClusterStatus> {
  const { cluster, etcd, peers } = state;
  const names = peers.filter(({ isOurs }) => isOurs).map(({ name }) => name);
  const members = names.toSorted(byOrdinal).map((name) => memberStatus(state, name, contacts));
  const voters = votersOf(state);
  const healthy = voters.filter((one) => unhealthyReason(state, one) === undefined);
  const leader = leaderOf(state);
  const version = shownVersion([...etcd.answers.values()].map((one) => one.version));
  const database = databaseOf(state);
  const { backup } = backupsOf(state);
  const { next, waitsFor, trouble } = decision;
  const waits = trouble ?? waitsFor;
  const status = {
    observedGeneration: cluster.generation,
    replicas: names.length,
    selector: selectorText(selectorOf(cluster)),
    voters: `${healthy.length}/${Math.max(voters.length, cluster.spec.replicas)}`,
    ...(version === undefined ? {} : { version }),
    ...(leader === undefined ? {} : { leader: peerNameOf(state, leader) ?? hexOf(leader.id) }),
    ...(database === undefined ? {} : { database }),
    ...(backup === undefined ? {} : { backup }),
    members,
    plan: {
      next,
      ...(waits === undefined ? {} : { waitsFor: cut(waits.message, WAITS_BYTES_MAX) }),
    },
    ...records,
    ...recoveryOf(state, records),
  };
  return { status, conditions: conditionsOf(state, decision, members) };
}

/** Since when there is no quorum, and what could be done about it. */
function recoveryOf(
  state: State,
  { clusterId, recovering }: Records,
): Pick<EtcdClusterStatus, 'quorumLostSince' | 'recovery'> {
  const { spec, status } = state.cluster;
  if (state.etcd.list !== undefined || clusterId === undefined || spec.replicas === 0) return {};
  if (status.quorumLostSince === undefined && unaskedReason(state) !== undefined) return {};
  const quorumLostSince = status.quorumLostSince ?? timestamp(state.nowMs);
  const proposal = recovering === undefined ? proposalOf(state) : undefined;
  return { quorumLostSince, ...(proposal === undefined ? {} : { recovery: proposal.plan }) };
}

/** The largest of all members, rounded, so that writes to it do not write the status. */
function databaseOf({ cluster, etcd }: State): string | undefined {
  const sizes = [...etcd.answers.values()].map(({ databaseBytes }) => databaseBytes);
  if (sizes.length === 0) return undefined;
  const quota = quantityOf(cluster.spec.quota);
  const percent = Math.ceil((Math.max(...sizes) / quota) * 20) * 5;
  return `${percent}% of ${cluster.spec.quota}`;
}

function memberStatus(state: State, name: string, contacts: Contacts): MemberStatus {
  const before = (state.cluster.status.members ?? []).find((one) => one.name === name);
  const member = memberOf(state, name);
  const answer = member === undefined ? undefined : answerOf(state, member);
  const peer = peerOf(state, name);
  const isNew = before === undefined || before.startingSince !== undefined;
  const votes = member !== undefined && !member.isLearner && answer !== undefined;
  const starting =
    isNew && !votes ? { startingSince: before?.startingSince ?? timestamp(state.nowMs) } : {};
  const id = member === undefined ? before?.id : hexOf(member.id);
  if (member === undefined || answer === undefined) {
    const wasHeard = before?.ready === true || before?.role !== undefined;
    const known = before && { ...before, wasHeard };
    const lastContact = silentSince(known, contacts.get(name), state.nowMs);
    return {
      name,
      ...(id === undefined ? {} : { id }),
      ...(before?.version === undefined ? {} : { version: before.version }),
      ready: false,
      ...starting,
      ...(lastContact === undefined ? {} : { lastContact }),
    };
  }
  const role = leaderOf(state)?.id === member.id ? 'Leader' : 'Follower';
  const now: MemberStatus = {
    name,
    id: hexOf(member.id),
    role: member.isLearner ? 'Learner' : role,
    version: answer.version,
    ready: podOf(state, name)?.isReady === true && unhealthyReason(state, member) === undefined,
    upToDate: peer !== undefined && !isOutdated(state, peer),
    ...starting,
  };
  const measured = withMeasures(before, now, answer, quotaBytesOf(state, member));
  return withContact(before, measured, state.nowMs);
}
