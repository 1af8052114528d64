// The conditions of an EtcdCluster tell of pods that do not run.
import { expect, test } from 'vitest';
import { conditionsOf } from '../../../functions/etcd-cluster/conditions.ts';
import { decide } from '../../../functions/etcd-cluster/decide.ts';
import type { EtcdClusterStatus } from '../../../shared/api/etcd-cluster.ts';
import { forgotten } from './rows.ts';
import { type Differences, silent, state } from './samples.ts';

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
