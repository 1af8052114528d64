// The status of a migration after a step: every way from one phase to another, as tables.
import { expect, test } from 'vitest';
import {
  afterPass,
  begun,
  blocked,
  cleared,
  done,
  nextPass,
  paused,
  restored,
  type StatusUpdate,
  settled,
} from '../../../functions/storage-migration/status.ts';
import type { Progress, StorageMigrationStatus } from '../../../shared/api/storage-migration.ts';
import { at, condition, crd, DONE, migration, PROGRESS, PROOF, target } from './samples.ts';

const NOW = '2026-11-21T12:00:00Z';
const BAD = [{ namespace: 'web', name: 'w2', reason: 'Forbidden', message: 'It may not change.' }];
const CURSOR = { after: 'web/w1', continue: 'token', resourceVersion: '499' };

type PassRow = readonly [
  title: string,
  phase: 'Rewriting' | 'Verifying',
  counts: Partial<Progress>,
  more: StorageMigrationStatus,
  next: StorageMigrationStatus & { readonly blockedBy?: string },
];

const PASSES: readonly PassRow[] = [
  [
    'of rewriting is followed by one that verifies',
    'Rewriting',
    { changed: 9 },
    { pass: 1 },
    { phase: 'Verifying', pass: 2 },
  ],
  [
    'that changed something is followed by another',
    'Verifying',
    { changed: 1 },
    { pass: 2 },
    { phase: 'Verifying', pass: 3 },
  ],
  [
    'that changed nothing is the proof',
    'Verifying',
    {},
    { pass: 2 },
    { phase: 'Trimming', pass: 2 },
  ],
  [
    'of rewriting that changed nothing is no proof',
    'Rewriting',
    {},
    { pass: 2 },
    { phase: 'Verifying', pass: 3 },
  ],
  [
    'that found nothing old at first waits once more',
    'Rewriting',
    {},
    { pass: 1, settledAt: NOW },
    { phase: 'Settling', pass: 1 },
  ],
  [
    'that found nothing old where nothing else is listed goes on',
    'Rewriting',
    {},
    { pass: 1, storedVersions: ['v1'] },
    { phase: 'Verifying', pass: 2 },
  ],
  [
    'of no objects goes on',
    'Rewriting',
    { done: 0, total: 0 },
    { pass: 1 },
    { phase: 'Verifying', pass: 2 },
  ],
  [
    'in which objects failed is done again',
    'Rewriting',
    { failed: 1 },
    { pass: 1, failed: BAD },
    { phase: 'Rewriting', pass: 2, retriesLeft: 1 },
  ],
  [
    'that verified and failed is no proof',
    'Verifying',
    { failed: 1 },
    { pass: 2, failed: BAD },
    { phase: 'Rewriting', pass: 3, retriesLeft: 1 },
  ],
  [
    'in which objects failed once too often blocks',
    'Rewriting',
    { failed: 1 },
    { pass: 3, failed: BAD, retriesLeft: 0 },
    { phase: 'Blocked', blockedIn: 'Rewriting', failed: BAD, blockedBy: 'ObjectsFailed' },
  ],
  [
    'after twenty that all changed something blocks',
    'Verifying',
    { changed: 4 },
    { pass: 20 },
    { phase: 'Blocked', blockedIn: 'Verifying', blockedBy: 'NeverSettles' },
  ],
  [
    'in which somebody wrote an object each time that we did proves nothing',
    'Verifying',
    { current: 8, conflicts: 1 },
    { pass: 2 },
    { phase: 'Verifying', pass: 3 },
  ],
  [
    'after twenty that failed may still be the proof',
    'Verifying',
    {},
    { pass: 40 },
    { phase: 'Trimming' },
  ],
  [
    'after twenty that failed may still be verified',
    'Rewriting',
    { changed: 1 },
    { pass: 40 },
    { phase: 'Verifying', pass: 41 },
  ],
];

test.each(PASSES)('a pass %s', (_what, phase, counts, more, { blockedBy, ...next }) => {
  const progress = { ...PROGRESS, ...counts };
  const said = afterPass(at(phase, { progress, ...more }), '500', NOW, crd());
  expect(said.status).toMatchObject(next);
  expect(said.status.proof !== undefined).toBe(next.phase === 'Trimming');
  expect(said.blocked?.reason).toBe(blockedBy);
});

test('the next pass counts from nothing, and one that verifies holds on to the CRD', () => {
  const progress = { ...PROGRESS, changed: 9 };
  const before = at('Rewriting', { pass: 1, progress, cursor: CURSOR, failed: BAD, proof: PROOF });
  const { status } = afterPass({ ...before, failed: [] }, '500', NOW, crd());
  expect(status.progress).toMatchObject({ done: 0, changed: 0 });
  expect(status).toMatchObject({ passStartedAt: NOW, target: { crdResourceVersion: '400' } });
  expect(Object.keys(status)).not.toContain('cursor');
  expect(Object.keys(nextPass(before, 'Verifying', NOW, crd()).status)).not.toContain('proof');
});

test('the proof says of what it is', () => {
  const before = at('Verifying', { pass: 2, progress: PROGRESS });
  expect(afterPass(before, '500', NOW, crd()).status.proof).toEqual({ ...PROOF, at: NOW });
});

test('a dry run ends after one pass, and proves nothing', () => {
  const about = { version: 'v1', kind: 'Widget', dryRun: true };
  const before = at('Rewriting', { pass: 1, target: about, progress: { ...PROGRESS, failed: 2 } });
  const said = afterPass(before, '500', NOW, crd());
  expect(said.status.phase).toBe('Done');
  expect(said.status.proof).toBeUndefined();
  expect(said.progressing.message).toContain('of 9 objects 2 would be refused');
});

test.each<[string, StorageMigrationStatus | undefined, Parameters<typeof crd>[0], string[]]>([
  ['what the CRD lists', undefined, {}, ['v1alpha1', 'v1']],
  ['what it listed before', at('Rewriting'), { storedVersions: ['v1'] }, ['v1alpha1', 'v1']],
  ['nothing of another CRD', at('Rewriting'), { uid: 'u2', storedVersions: ['v1'] }, ['v1']],
  ['nothing that is proved to be gone', DONE, { storedVersions: ['v1'] }, ['v1']],
  [
    'the version of the last proof',
    DONE,
    { storage: 'v2', versions: ['v1', 'v2'], storedVersions: ['v2'] },
    ['v1', 'v2'],
  ],
  [
    'not when somebody has taken it out of the CRD',
    DONE,
    { storage: 'v2', versions: ['v2'], storedVersions: ['v2'] },
    ['v2'],
  ],
])('what may be stored when it begins: %s', (_what, status, changes, storedVersions) => {
  const before = migration(status === undefined ? {} : { status });
  const said = begun(before, target(changes)).status;
  expect(said.storedVersions).toEqual(storedVersions);
  expect(said).toMatchObject({ phase: 'Preflight', retriesLeft: 2 });
  expect(Object.keys(said)).not.toContain('proof');
});

type ClearedRow = readonly [title: string, status: StorageMigrationStatus, next: object];

test.each<ClearedRow>([
  ['the preflight: it settles', at('Preflight'), { phase: 'Settling' }],
  [
    'a block in the preflight: it settles',
    at('Blocked', { blockedIn: 'Preflight' }),
    { phase: 'Settling' },
  ],
  [
    'a block in a pass: it goes on where it was',
    at('Blocked', { blockedIn: 'Verifying', cursor: CURSOR, pass: 2 }),
    { phase: 'Verifying', cursor: CURSOR, pass: 2 },
  ],
  [
    'a block at the end of a pass: the next one',
    at('Blocked', { blockedIn: 'Rewriting', pass: 2 }),
    { phase: 'Rewriting', pass: 3 },
  ],
  [
    'a block before the trim: what was proved is to be proved again',
    at('Blocked', { blockedIn: 'Trimming', proof: PROOF, pass: 2 }),
    { phase: 'Settling' },
  ],
])('after %s', (_what, status, next) => {
  const said = cleared(status, NOW, crd());
  expect(said.status).toMatchObject(next);
  expect(said.blocked).toBeUndefined();
  expect(Object.keys(said.status)).not.toContain('blockedIn');
  expect(Object.keys(said.status)).not.toContain('proof');
});

test('the first pass after settling rewrites, any later one verifies', () => {
  expect(settled(at('Settling'), NOW, crd()).status).toMatchObject({ phase: 'Rewriting', pass: 1 });
  const second = settled(at('Settling', { pass: 1 }), NOW, crd());
  expect(second.status).toMatchObject({ phase: 'Verifying', pass: 2 });
});

test('a block remembers where it goes back to, also when it is said twice', () => {
  const why = { reason: 'ConversionFails', message: 'It fails.' };
  const once = blocked(at('Verifying'), why);
  expect(once.status).toMatchObject({ phase: 'Blocked', blockedIn: 'Verifying' });
  expect(blocked(once.status, why).status.blockedIn).toBe('Verifying');
});

test('what was put back is told once for each version, and what blocks stays told', () => {
  const blocking = condition('Blocked', 'ObjectsFailed');
  const before = at('Blocked', { restored: ['v1alpha1'], conditions: [blocking] });
  const said = restored(before, ['v1alpha1', 'v1beta1'], 'Put back.');
  expect(said.status.restored).toEqual(['v1alpha1', 'v1beta1']);
  expect(said.blocked).toMatchObject({ reason: 'ObjectsFailed' });
  expect(said.progressing).toEqual({ reason: 'Blocked', message: 'Put back.' });
  expect(restored(at('Rewriting'), ['v1alpha1'], 'Put back.').blocked).toBeUndefined();
});

test('a pause keeps all that was said', () => {
  const status = at('Rewriting', { cursor: CURSOR, pass: 1, progress: PROGRESS });
  const { observedGeneration: _generation, ...kept } = status;
  expect(paused(migration({ status })).status).toEqual(kept);
});

test.each<[string, StorageMigrationStatus, Parameters<typeof done>[1], object]>([
  [
    'trimmed',
    at('Trimming'),
    { message: '', trimmed: ['v1alpha1'] },
    { storedVersions: ['v1'], trimmed: ['v1alpha1'] },
  ],
  ['left alone', at('Trimming'), { message: '' }, { storedVersions: ['v1alpha1', 'v1'] }],
])('done, with a list that was %s', (_what, status, ended, next) => {
  expect(done(status, ended).status).toMatchObject({ phase: 'Done', ...next });
});

test('whom the failed objects are is in the words', () => {
  const status = at('Rewriting', {
    progress: { ...PROGRESS, failed: 1 },
    failed: BAD,
    retriesLeft: 0,
  });
  const { blocked: word }: StatusUpdate = afterPass(status, '500', NOW, crd());
  expect(word?.message).toContain(
    '1 objects cannot be written, such as web/w2: It may not change.',
  );
});

test('what blocks it is what the wide output of kubectl shows', () => {
  const why = { reason: 'ConversionFails', message: 'The webhook is away.' };
  const { progressing } = blocked(at('Rewriting'), why);
  expect(progressing).toEqual({
    reason: 'Blocked',
    message: 'ConversionFails: The webhook is away.',
  });
});
