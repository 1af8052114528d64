// The conditions of an EtcdCluster tell which member is in trouble, and nothing that nobody saw.
import { expect, test } from 'vitest';
import { conditionsOf } from '../../../functions/etcd-cluster/conditions.ts';
import { decide } from '../../../functions/etcd-cluster/decide.ts';
import type { EtcdState, MemberAnswer } from '../../../functions/etcd-cluster/etcd-state.ts';
import { recordsOf } from '../../../functions/etcd-cluster/state.ts';
import { statusUpdateOf } from '../../../functions/etcd-cluster/status.ts';
import type { EtcdClusterStatus } from '../../../shared/api/etcd-cluster.ts';
import { forgotten } from './rows.ts';
import { type Differences, peerFor, silent, state, withLearner } from './samples.ts';

const lacking = { reason: 'CertificateUnfit', message: 'It has no tls.crt.' };
const answers: EtcdState['answers'] = new Map();
const same = (etcd: EtcdState): EtcdState => etcd;

const answering =
  (peer: string, more: Partial<MemberAnswer>): NonNullable<Differences['etcd']> =>
  (etcd) => ({
    ...etcd,
    answers: new Map(
      [...etcd.answers].map(([name, one]) => [name, name === peer ? { ...one, ...more } : one]),
    ),
  });

const crashing: NonNullable<Differences['pods']> = (pods) =>
  pods.map((pod) => {
    const trouble = { reason: 'CrashLoopBackOff', message: 'it ends with code 1' };
    return pod.name === 'etcd-3-0' ? { ...pod, isReady: false, trouble } : pod;
  });

const leaving: EtcdClusterStatus['leaving'] = {
  peer: 'etcd-3',
  peerUid: 'peer of etcd-3',
  memberId: '1003',
  reason: 'ScaleDown',
  since: '2026-01-01T23:59:00Z',
};

function degraded(differences: Differences): string {
  const told = (etcd: ReturnType<typeof state>['etcd'], own: ReturnType<typeof state>['cluster']) =>
    forgotten('1003')(silent('etcd-3')(etcd, own), own);
  const one = state({ ordinals: [0, 1, 2, 3], pods: crashing, etcd: told, ...differences });
  const found = conditionsOf(one, decide(one), []).find(({ type }) => type === 'Degraded');
  return `${found?.status ?? ''} ${found?.reason ?? ''}`;
}

test('a pod that does not run needs a person', () => {
  expect(degraded({})).toBe('True CrashLoopBackOff');
});

test('a member that is taken away may crash until its pod is deleted', () => {
  expect(degraded({ status: { leaving } })).toBe('False NotDegraded');
});

/** Reason and message of Degraded, of a cluster that is as old as it is known to be. */
function degradedText(differences: Differences): string {
  const one = state(differences);
  const contacts = new Map<string, number>();
  const { conditions } = statusUpdateOf(one, decide(one), recordsOf(one), contacts);
  const found = conditions.find(({ type }) => type === 'Degraded');
  return `${found?.status ?? ''} ${found?.reason ?? ''}: ${found?.message ?? ''}`;
}

const known: Partial<EtcdClusterStatus> = {
  members: ['etcd-0', 'etcd-1', 'etcd-2'].map((name) => ({ name, ready: true })),
};

test.each<[string, Differences, RegExp]>([
  ['is away', { etcd: silent('etcd-1') }, /^True MemberSilent: etcd-1 does not answer/],
  [
    'has no pod',
    { etcd: silent('etcd-2'), pods: (all) => all.filter(({ name }) => name !== 'etcd-2-0') },
    /^True MemberAway: etcd-2 has no pod; Events of StatefulSet etcd-2 tell of trouble\.$/,
  ],
  [
    'answers and is not ready',
    { pods: (all) => all.map((one) => ({ ...one, isReady: one.name !== 'etcd-1-0' })) },
    /^True MemberUnready: etcd-1 answers us, and its pod is not ready/,
  ],
  [
    'knows no leader',
    { etcd: answering('etcd-1', { leaderId: undefined }) },
    /^True NoLeader: etcd-1 knows no leader\.$/,
  ],
  [
    'is behind',
    { etcd: answering('etcd-2', { raftAppliedIndex: 100 }) },
    /^True MemberBehind: etcd-2 is 19900 entries behind/,
  ],
])('the member named in Degraded is the one that %s', (_, differences, message) => {
  const { status, ...rest } = differences;
  const found = degradedText({ ...rest, status: { ...known, ...status } });
  expect(found).toMatch(message);
  const others = ['etcd-0', 'etcd-1', 'etcd-2'].filter((one) => !message.source.includes(one));
  expect(others.filter((one) => found.includes(one))).toEqual([]);
});

test('a learner that does not come to vote is told as one that answers', () => {
  const since = '2026-01-01T23:40:00Z';
  const found = degradedText({
    etcd: withLearner(3, {}),
    peers: (all) => [...all, peerFor(state(), 'etcd-3', ['etcd-3'])],
    status: { members: [...(known.members ?? []), { name: 'etcd-3', startingSince: since }] },
  });
  expect(found).toBe('True LearnerUnfinished: etcd-3 does not vote yet.');
});

test.each<[string, Differences]>([
  ['without a certificate', { parts: { access: undefined, lacking } }],
  ['without the right login', { etcd: (etcd) => ({ ...etcd, refused: 'LOGIN_FAILED' }) }],
])('%s nobody was asked, so no quorum is called lost', (_, differences) => {
  const one = state({
    ...differences,
    etcd: (etcd, own) => ({ ...(differences.etcd ?? same)(etcd, own), list: undefined, answers }),
  });
  const { status, conditions } = statusUpdateOf(one, decide(one), recordsOf(one), new Map());
  const found = conditions.find(({ type }) => type === 'Quorate');
  expect(found?.status).toBe('Unknown');
  expect(status).not.toHaveProperty('quorumLostSince');
});
