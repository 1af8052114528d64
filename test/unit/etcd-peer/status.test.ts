// The status of a peer, as its pod and claim are found.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/etcd-peer/decide.ts';
import { recordsOf } from '../../../functions/etcd-peer/state.ts';
import { statusUpdateOf } from '../../../functions/etcd-peer/status.ts';
import { CLAIM, type Differences, state } from './samples.ts';

function statusOf(differences: Differences = {}) {
  const found = state(differences);
  return statusUpdateOf(found, decide(found), recordsOf(found));
}

function conditionsOf(differences: Differences = {}): readonly string[] {
  const { conditions } = statusOf(differences);
  return conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
}

test('a member that runs says which claim and which template it has', () => {
  expect(statusOf().status).toEqual({
    observedGeneration: 1,
    claimUid: 'v1',
    templateHash: state().rendered.templateHash,
    phase: 'Running',
  });
});

test.each<[string, Differences, string]>([
  ['Ending', { isEnding: true }, 'it was deleted'],
  ['DataLost', { claim: null }, 'its claim is gone'],
  ['DataLost', { claim: { uid: 'v2' }, spec: { running: false }, pod: null }, 'another is there'],
  ['Hibernating', { spec: { running: false }, pod: null }, 'it is to have no pod'],
  ['Pending', { spec: { running: false }, pod: { isReady: false } }, 'its pod still ends'],
  ['Pending', { pod: null }, 'it has no pod yet'],
  ['Pending', { pod: { isReady: false } }, 'its pod is not ready'],
  ['Pending', { pod: { isOurs: false } }, 'its pod is that of others'],
  ['Running', { pod: { templateHash: 'old' } }, 'its pod is to be another one'],
])('its phase is %s when %j (%s)', (phase, differences) => {
  expect(statusOf(differences).status.phase).toBe(phase);
});

test.each<[readonly string[], Differences]>([
  [['Ready True Running', 'Degraded False NotDegraded'], {}],
  [['Ready False Outdated', 'Degraded False NotDegraded'], { pod: { templateHash: 'old' } }],
  [['Ready False Changing', 'Degraded False NotDegraded'], { statefulSet: null, pod: null }],
  [
    ['Ready False Hibernating', 'Degraded False NotDegraded'],
    { spec: { running: false }, pod: null },
  ],
  [['Ready False DataLost', 'Degraded False NotDegraded'], { claim: null }],
  [['Ready False NameTaken', 'Degraded True NameTaken'], { statefulSet: { isOurs: false } }],
  [
    ['Ready False ClaimPending', 'Degraded True ClaimPending'],
    { pod: { isReady: false }, more: { pending: 'It has no volume.' } },
  ],
  [
    ['Ready True Running', 'Degraded True StorageCannotGrow'],
    { more: { growth: { claim: CLAIM, size: '20Gi', isAllowed: false } } },
  ],
])('its conditions are %j for %j', (conditions, differences) => {
  expect(conditionsOf(differences)).toEqual(conditions);
});

test('a StatefulSet of others is not told to be its template', () => {
  const { status } = statusOf({ statefulSet: { isOurs: false, templateHash: 'theirs' } });
  expect(status).not.toHaveProperty('templateHash');
});

test('a member in memory says no claim', () => {
  const spec = { storage: { medium: 'Memory', size: '1Gi' } } as const;
  const { status } = statusOf({ spec, status: {}, claim: null });
  expect(status).not.toHaveProperty('claimUid');
  expect(status.phase).toBe('Running');
});
