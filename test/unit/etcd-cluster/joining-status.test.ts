// While members join those of a legacy cluster that is told as wanted, and as trouble only where
// one of ours is in it.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/etcd-cluster/decide.ts';
import { recordsOf } from '../../../functions/etcd-cluster/state.ts';
import { statusUpdateOf } from '../../../functions/etcd-cluster/status.ts';
import { added, among, claims, made, OLD, of35 } from './joining-samples.ts';
import { all, forgotten } from './rows.ts';
import { type Differences, silent, state } from './samples.ts';

const CLAIMS = claims('etcd-0', 'etcd-1', 'etcd-2');
const joining = (more: Differences = {}): Differences =>
  made({ claims: CLAIMS, status: { joining: OLD }, etcd: all(of35, among(3)), ...more });

function told(differences: Differences): Readonly<Record<string, string>> {
  const one = state(differences);
  const { conditions } = statusUpdateOf(one, decide(one), recordsOf(one), new Map());
  return Object.fromEntries(
    conditions.map(({ type, status, reason, message }) => [type, `${status} ${reason} ${message}`]),
  );
}

test('those of before are named, and that the takeover goes on', () => {
  const { Ready = '', Quorate, Degraded } = told(joining());
  expect(Ready).toMatch(/^False Joining .*old-0000, old-0001, old-0002.*The takeover goes on/);
  expect(Quorate).toMatch(/^True Quorum .*3 of 6 voters/);
  expect(Degraded).toMatch(/^False NotDegraded/);
});

test('amid a step it says the same', () => {
  const { Ready } = told(joining({ etcd: all(of35, among(3), added(3)) }));
  expect(Ready).toMatch(/^False Joining /);
});

test('a status keeps them', () => {
  const one = state(joining());
  const { status } = statusUpdateOf(one, decide(one), recordsOf(one), new Map());
  expect(status).toMatchObject({ joining: OLD });
  expect(status.bootstrap).toBeUndefined();
});

test('when they have left it is Ready as any other', () => {
  const over = told(made({ claims: CLAIMS, etcd: of35 }));
  expect(over['Ready']).toMatch(/^True Whole/);
});

const crashing: NonNullable<Differences['pods']> = (pods) =>
  pods.map((pod) => {
    const trouble = { reason: 'CrashLoopBackOff', message: 'it ends with code 1' };
    return pod.name === 'etcd-2-0' ? { ...pod, isReady: false, trouble } : pod;
  });

test('one of ours that does not run needs a person', () => {
  const etcd = all(of35, among(3), silent('etcd-2'));
  expect(told(joining({ pods: crashing, etcd }))['Degraded']).toMatch(/^True CrashLoopBackOff/);
});

test('one that the takeover has removed ends, and is left alone', () => {
  const etcd = all(of35, among(3), silent('etcd-2'), forgotten('1002'));
  expect(told(joining({ pods: crashing, etcd }))['Degraded']).toMatch(/^False NotDegraded/);
});
