// The outcome of a rewriting that another migrator was asked for: when it is handed over, what its
// object tells, and where the migration goes on from there.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/storage-migration/decide.ts';
import { delegateStatus } from '../../../functions/storage-migration/delegate.ts';
import { afterPass, begun, done, settled } from '../../../functions/storage-migration/status.ts';
import type { StorageMigrationStatus } from '../../../shared/api/storage-migration.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { at, condition, migration, PROGRESS, target } from './samples.ts';

const NOW = '2026-11-21T12:00:00Z';
const BEGUN = { version: 'v1', kind: 'Widget', dryRun: false, crdUid: 'u1', crdGeneration: 2 };
const KNOWN = { apiVersion: 'storagemigration.k8s.io/v1', name: 'w-1', uid: 'd1' };
const FAILED = { ...KNOWN, result: 'Failed', message: 'w2 may not change' } as const;

/** In this phase of a migration that the in-tree migrator is to rewrite. */
const inTree = (
  phase: StorageMigrationStatus['phase'],
  more: StorageMigrationStatus = {},
): StorageMigrationStatus => at(phase, { target: { ...BEGUN, mode: 'InTree' }, ...more });

const order = (type?: string, { uid = 'd1', message = '', status = 'True' } = {}): KubeObject => ({
  apiVersion: KNOWN.apiVersion,
  kind: 'StorageVersionMigration',
  metadata: { name: 'w-1', uid, resourceVersion: '7', creationTimestamp: NOW },
  ...(type === undefined ? {} : { status: { conditions: [{ type, status, message }] } }),
});

const hear = (one: KubeObject | null, afterMs = 0) =>
  delegateStatus(inTree('Delegating'), KNOWN, one, Date.parse(NOW) + afterMs);

test.each<[string, KubeObject | null, string]>([
  ['has said nothing', order(), 'it has not begun'],
  ['runs', order('Running'), 'it runs'],
  ['says that it does not run', order('Running', { status: 'False' }), 'it has not begun'],
])('one that %s is waited for', (_what, one, words) => {
  const { status, progressing } = hear(one);
  expect(status).toMatchObject({ phase: 'Delegating', delegate: KNOWN });
  expect(progressing.reason).toBe('Delegating');
  expect(progressing.message).toContain(
    'Waits until StorageVersionMigration w-1 (storagemigration.k8s.io/v1) ends',
  );
  expect(progressing.message).toContain(words);
});

test.each<[string, KubeObject | null, object]>([
  ['succeeded', order('Succeeded'), { ...KNOWN, result: 'Succeeded' }],
  ['failed', order('Failed', { message: 'w2 may not change' }), FAILED],
  ['is gone', null, { ...KNOWN, result: 'Gone' }],
  ['is another of the name', order('Succeeded', { uid: 'd2' }), { ...KNOWN, result: 'Gone' }],
])('after one that %s it settles again, and then verifies', (_what, one, delegate) => {
  const { status } = hear(one);
  expect(status).toMatchObject({ phase: 'Settling', delegate });
  expect(settled(status, NOW).status).toMatchObject({ phase: 'Verifying', pass: 1, delegate });
});

test('one that nobody begins for ten minutes blocks, and is looked at again', () => {
  expect(hear(order(), 599_000).blocked).toBeUndefined();
  const { status, blocked } = hear(order(), 601_000);
  expect(status).toMatchObject({ phase: 'Blocked', blockedIn: 'Delegating', delegate: KNOWN });
  expect(blocked?.reason).toBe('MigratorSilent');
  expect(blocked?.message).toContain(`since ${NOW}: look whether its controller runs`);
  const waits = {
    ...status,
    observedGeneration: 1,
    conditions: [condition('Blocked', 'MigratorSilent')],
  };
  const spec = { mode: 'InTree' } as const;
  expect(decide(migration({ spec, status: waits }), target()).type).toBe('delegate');
  const goesOn = delegateStatus(waits, KNOWN, order('Running'), Date.parse(NOW) + 700_000);
  expect(goesOn.status.phase).toBe('Delegating');
  expect(goesOn.status.blockedIn).toBeUndefined();
});

test('it is handed over once every API server stores the current version', () => {
  const { status } = begun(migration({ spec: { mode: 'InTree' } }), target());
  expect(status.target).toEqual({ ...BEGUN, mode: 'InTree' });
  expect(settled({ ...status, phase: 'Settling' }, NOW).status.phase).toBe('Delegating');
  expect(settled(at('Settling'), NOW).status.phase).toBe('Rewriting');
  // A pass was made: there is something that ours has to finish.
  expect(settled(inTree('Settling', { pass: 1 }), NOW).status.phase).toBe('Verifying');
});

test.each([
  ['Ballast', inTree('Delegating'), 'status'],
  ['Community', inTree('Verifying'), 'status'],
  ['InTree', at('Rewriting'), 'status'],
  ['InTree', inTree('Delegating'), 'delegate'],
  ['InTree', inTree('Verifying'), 'pass'],
] as const)(
  'when the mode is %s by now it begins anew unless it was so: %#',
  (mode, status, take) => {
    expect(decide(migration({ spec: { mode }, status }), target()).type).toBe(take);
  },
);

test.each(['Delegating', 'Settling', 'Verifying'] as const)(
  'what the other one takes off the list without our proof comes back: in %s',
  (phase) => {
    const status = inTree(phase, { delegate: { ...KNOWN, result: 'Succeeded' } });
    const found = target({ storedVersions: ['v1'] });
    expect(decide(migration({ spec: { mode: 'InTree' }, status }), found)).toEqual({
      type: 'restore',
      lacking: ['v1alpha1'],
    });
  },
);

test('what it left is rewritten by ours, and proved by another pass', () => {
  const status = inTree('Verifying', { pass: 1, delegate: FAILED });
  const counted = { ...status, progress: { ...PROGRESS, changed: 4, current: 5 } };
  expect(afterPass(counted, '500', NOW, undefined).status).toMatchObject({
    phase: 'Verifying',
    pass: 2,
  });
});

test('that it failed, or went away, is said to the end', () => {
  const failed = inTree('Settling', { delegate: FAILED });
  const words = 'StorageVersionMigration w-1 failed: w2 may not change.';
  expect(settled(failed, NOW).progressing.message).toContain(words);
  expect(done(failed, { message: 'All is current.' }).progressing.message).toBe(
    `All is current. ${words}`,
  );
  const gone = inTree('Settling', { delegate: { ...KNOWN, result: 'Gone' } });
  expect(settled(gone, NOW).progressing.message).toContain('w-1 was deleted before its end.');
});
