// When managedFields are cleaned, and what follows, as tables.
import { expect, test } from 'vitest';
import { afterCleaning, cleansFirst } from '../../../functions/storage-migration/cleaning.ts';
import {
  begun,
  objectsFailed,
  type StatusUpdate,
  settled,
} from '../../../functions/storage-migration/status.ts';
import type { Progress, StorageMigrationStatus } from '../../../shared/api/storage-migration.ts';
import { at, BUILT_IN, crd, migration, PROGRESS, target } from './samples.ts';

const NOW = '2026-11-21T12:00:00Z';
const BAD = [{ name: 'w2', reason: 'Forbidden', message: 'It may not change.' }];
const DELEGATE = { apiVersion: 'storagemigration.k8s.io/v1', name: 'm', uid: 'd1' };

const WISH = migration({ spec: { cleanManagedFields: true } });
const WISHED = {
  version: 'v1',
  kind: 'Widget',
  dryRun: false,
  cleansManagedFields: true,
  crdUid: 'u1',
  crdGeneration: 2,
};
const ORDERED = { ...WISHED, mode: 'InTree' } as const;
/** As `at`, with the wish to clean. */
const unclean = (phase: 'Settling' | 'Cleaning', more: StorageMigrationStatus = {}) =>
  at(phase, { target: WISHED, ...more });

test('the wish to clean is part of what a migration began with', () => {
  const servedVersions = ['v1alpha1', 'v1'];
  expect(begun(WISH, target()).status.target).toEqual({ ...WISHED, servedVersions });
  // Neither has anything to clean.
  expect(begun(WISH, BUILT_IN).status.target).not.toHaveProperty('cleansManagedFields');
  const dry = migration({ spec: { cleanManagedFields: true, dryRun: true } });
  expect(begun(dry, target()).status.target).not.toHaveProperty('cleansManagedFields');
  expect(begun(migration(), target()).status.target).not.toHaveProperty('cleansManagedFields');
});

test.each<[title: string, status: StorageMigrationStatus, phase: string]>([
  ['before the first pass it cleans', unclean('Settling'), 'Cleaning'],
  ['before another migrator is asked, too', unclean('Settling', { target: ORDERED }), 'Cleaning'],
  ['without the wish it does not', at('Settling'), 'Rewriting'],
  ['between passes it does not', unclean('Settling', { pass: 1 }), 'Verifying'],
  [
    'after another migrator it does not',
    unclean('Settling', {
      target: ORDERED,
      delegate: { ...DELEGATE, result: 'Succeeded' },
    }),
    'Verifying',
  ],
])('%s', (_what, status, phase) => {
  const update = cleansFirst(status, settled(status, NOW, crd()), NOW);
  expect(update.status.phase).toBe(phase);
});

test('it begins with the first object, and counts on', () => {
  const cursor = { after: 'w1', continue: 'token', resourceVersion: '499' };
  const status = unclean('Settling', { cursor, failed: BAD, cleaned: 3 });
  const { status: said } = cleansFirst(status, settled(status, NOW, crd()), NOW);
  expect(said).toMatchObject({ cleaned: 3, passStartedAt: NOW, progress: { done: 0 } });
  expect(said).not.toHaveProperty('cursor');
  expect(said).not.toHaveProperty('failed');
});

const after = (counts: Partial<Progress>, more: StorageMigrationStatus = {}): StatusUpdate => {
  const progress = { ...PROGRESS, ...counts };
  const status = unclean('Cleaning', { cleaned: 2, progress, ...more });
  return afterCleaning(WISH, status, NOW, crd());
};

test('when all are clean the first pass follows, with its own retries', () => {
  const { status } = after({ changed: 2 }, { retriesLeft: 0 });
  expect(status).toMatchObject({ phase: 'Rewriting', pass: 1, cleaned: 2, retriesLeft: 2 });
});

test('when all are clean the other migrator is asked', () => {
  const { status } = after({}, { target: ORDERED });
  expect(status).toMatchObject({ phase: 'Delegating', cleaned: 2 });
});

test('what failed is tried again, and then it waits', () => {
  const failed = { failed: BAD, retriesLeft: 1 };
  const again = after({ failed: 1 }, failed);
  expect(again.status).toMatchObject({ phase: 'Cleaning', retriesLeft: 0, progress: { done: 0 } });
  const { status, blocked } = after({ failed: 1 }, { ...failed, retriesLeft: 0 });
  expect(status).toMatchObject({ phase: 'Blocked', blockedIn: 'Cleaning' });
  expect(blocked).toEqual(objectsFailed({ progress: { ...PROGRESS, failed: 1 }, failed: BAD }));
});
