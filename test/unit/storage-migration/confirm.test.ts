// The outcome of the second pass where etcd has to agree, answer by answer; and how stored objects
// are judged.
import { expect, test } from 'vitest';
import { confirmed, unconfirmed } from '../../../functions/storage-migration/confirm.ts';
import { type EtcdAnswer, judgeStored } from '../../../functions/storage-migration/etcd-verdict.ts';
import { afterPass } from '../../../functions/storage-migration/status.ts';
import type { StorageMigrationStatus } from '../../../shared/api/storage-migration.ts';
import type { StoredCount } from '../../../shared/stored/audit.ts';
import { at, condition, crd, PROGRESS, PROOF } from './samples.ts';

const NOW = '2026-11-21T12:00:00Z';
const MOMENT = { nowMs: Date.parse(NOW), nowIso: NOW, crd: crd() };
const CURSOR = { after: '', continue: '', resourceVersion: '500' };

const CURRENT: EtcdAnswer = { result: 'current', revision: '600', values: 9 };
const OLD: EtcdAnswer = { result: 'old', message: 'One is old.' };
const SILENT: EtcdAnswer = {
  result: 'unusable',
  why: { reason: 'EtcdUnavailable', message: 'No.' },
};
const ETCD = { oracle: 'SecondPassAndEtcd', etcdRevision: '600', etcdValues: 9 } as const;

const confirming = (more: StorageMigrationStatus = {}): StorageMigrationStatus =>
  at('Confirming', { pass: 2, progress: PROGRESS, cursor: CURSOR, passStartedAt: NOW, ...more });

const disagreeing = (passStartedAt: string): StorageMigrationStatus => ({
  ...confirming({ etcdDisagreed: 3, passStartedAt, blockedIn: 'Confirming' }),
  phase: 'Blocked',
  conditions: [condition('Blocked', 'EtcdDisagrees')],
});

test('a pass that would be the proof goes to ask etcd, and any other is left as it is', () => {
  const changed = { ...PROGRESS, changed: 1 };
  const other = afterPass(at('Verifying', { pass: 2, progress: changed }), '500', NOW, crd());
  expect(unconfirmed(other)).toBe(other);
  const whole = afterPass(at('Verifying', { pass: 2, progress: PROGRESS }), '500', NOW, crd());
  const { status } = unconfirmed(whole);
  expect(status).toMatchObject({ phase: 'Confirming', cursor: CURSOR });
  expect(status).not.toHaveProperty('proof');
});

type Row = readonly [
  title: string,
  status: StorageMigrationStatus,
  answer: EtcdAnswer | undefined,
  next: StorageMigrationStatus & { readonly blockedBy?: string },
];

test.each<Row>([
  [
    'it agrees',
    confirming(),
    CURRENT,
    { phase: 'Trimming', proof: { ...PROOF, ...ETCD, at: NOW } },
  ],
  [
    'it is not asked any more',
    confirming(),
    undefined,
    { phase: 'Trimming', proof: { ...PROOF, at: NOW } },
  ],
  [
    'it cannot say',
    confirming(),
    SILENT,
    { phase: 'Blocked', blockedIn: 'Confirming', blockedBy: 'EtcdUnavailable' },
  ],
  ['it disagrees for the first time', confirming(), OLD, { phase: 'Settling', etcdDisagreed: 1 }],
  [
    'it disagrees again',
    confirming({ etcdDisagreed: 1 }),
    OLD,
    { phase: 'Settling', etcdDisagreed: 2 },
  ],
  [
    'it disagrees once more',
    confirming({ etcdDisagreed: 2 }),
    OLD,
    { phase: 'Blocked', etcdDisagreed: 3, blockedBy: 'EtcdDisagrees' },
  ],
  [
    'it still disagrees',
    disagreeing(NOW),
    OLD,
    { phase: 'Blocked', etcdDisagreed: 3, blockedBy: 'EtcdDisagrees' },
  ],
  [
    'it disagrees for ten minutes',
    disagreeing('2026-11-21T11:50:00Z'),
    OLD,
    { phase: 'Settling', etcdDisagreed: 3 },
  ],
  ['it agrees in the end', disagreeing(NOW), CURRENT, { phase: 'Trimming', etcdDisagreed: 3 }],
])('%s', (_what, status, answer, { blockedBy, ...next }) => {
  const said = confirmed(status, answer, MOMENT);
  expect(said.status).toMatchObject(next);
  expect(said.blocked?.reason).toBe(blockedBy);
  expect(said.status.proof !== undefined).toBe(next.phase === 'Trimming');
  expect(said.status.cursor !== undefined).toBe(next.phase === 'Blocked');
});

const ABOUT = { kind: 'widgets.example.com', apiVersion: 'example.com/v1', revision: '600' };
const named = (count: number, ...examples: readonly string[]) => ({ count, examples });

const stored = (
  versions: Readonly<Record<string, ReturnType<typeof named>>>,
  hidden = named(0),
): StoredCount => {
  const all = Object.entries(versions).map(
    ([version, of]) => [`example.com/${version}`, of] as const,
  );
  return { total: 9, versions: new Map(all), hidden };
};

test.each<[string, StoredCount, object]>([
  ['all in the current version', stored({ v1: named(9, 'a/b') }), CURRENT],
  ['nothing at all', { ...stored({}), total: 0 }, { result: 'current', values: 0 }],
  [
    'one in another',
    stored({ v1: named(8, 'a/b'), v1alpha1: named(1, 'a/c') }),
    { result: 'old', message: expect.stringContaining('1 in example.com/v1alpha1 (a/c)') },
  ],
  [
    'one that is hidden',
    stored({ v1: named(8, 'a/b') }, named(1, 'a/d')),
    {
      result: 'unusable',
      why: { reason: 'EtcdCannotTell', message: expect.stringContaining('a/d') },
    },
  ],
  [
    'one in another and one that is hidden',
    stored({ v2: named(1, 'a/c') }, named(8, 'a/d')),
    { result: 'old' },
  ],
])('etcd has %s', (_what, counted, answer) => {
  expect(judgeStored(counted, ABOUT)).toMatchObject(answer);
});
