// Which step a migration takes, from its status and the CRD, as a table.
import { expect, test } from 'vitest';
import { decide, type Step } from '../../../functions/storage-migration/decide.ts';
import type { Target, NoTarget } from '../../../functions/storage-migration/observe.ts';
import type { StorageMigrationStatus } from '../../../shared/api/storage-migration.ts';
import {
  at,
  BUILT_IN,
  condition,
  crd,
  DONE,
  migration,
  type MigrationChanges,
  PROOF,
  target,
} from './samples.ts';

const UNKNOWN: NoTarget = { reason: 'ResourceUnknown', message: 'There is none.' };
const blockedBy = (reason: string, more: StorageMigrationStatus = {}): StorageMigrationStatus =>
  at('Blocked', { conditions: [condition('Blocked', reason)], ...more });

/** A name, the status before, the observation, and the step in a word, with its phase. */
type Row = readonly [
  title: string,
  changes: MigrationChanges,
  found: Target | NoTarget,
  step: string,
];

const PHASES: readonly Row[] = [
  ['a new one begins', {}, target(), 'say Preflight'],
  ['in Preflight it looks', { status: at('Preflight') }, target(), 'preflight'],
  ['in Settling it waits', { status: at('Settling') }, target(), 'settle'],
  ['in Cleaning it does a pass', { status: at('Cleaning') }, target(), 'pass'],
  ['in Rewriting it does a pass', { status: at('Rewriting') }, target(), 'pass'],
  ['in Verifying it does a pass', { status: at('Verifying') }, target(), 'pass'],
  ['in Confirming it asks etcd', { status: at('Confirming') }, target(), 'confirm'],
  [
    'blocked by etcd, it asks etcd again and writes nothing',
    { status: blockedBy('EtcdDisagrees', { blockedIn: 'Confirming' }) },
    target(),
    'confirm',
  ],
  [
    'blocked by what is encrypted, it waits for a person',
    { status: blockedBy('EtcdCannotTell', { blockedIn: 'Confirming' }) },
    target(),
    'nothing',
  ],
  ['in Trimming it trims', { status: at('Trimming', { proof: PROOF }) }, target(), 'trim'],
  ['blocked, it looks again', { status: blockedBy('ConversionFails') }, target(), 'preflight'],
  [
    'blocked by objects, it asks for them',
    { status: blockedBy('ObjectsFailed') },
    target(),
    'probe',
  ],
  [
    'blocked by a loss, it writes nothing more',
    { status: blockedBy('ManagedFieldsLost') },
    target(),
    'nothing',
  ],
  [
    'blocked by rights in Settling, it tries them',
    { status: blockedBy('RightsMissing', { blockedIn: 'Settling' }) },
    target(),
    'settle',
  ],
  [
    'blocked in Trimming, it trims what is proved',
    { status: blockedBy('RightsMissing', { blockedIn: 'Trimming', proof: PROOF }) },
    target(),
    'trim',
  ],
  ['on its way out it rests', { deletionTimestamp: 'now' }, target(), 'nothing'],
];

const EDITS: readonly Row[] = [
  [
    'an edit in the middle changes nothing',
    { status: at('Rewriting'), generation: 2 },
    target(),
    'pass',
  ],
  ['an edit when done begins anew', { status: DONE, generation: 2 }, target(), 'say Preflight'],
  [
    'an edit when blocked begins anew, whatever blocked it',
    { status: blockedBy('ManagedFieldsLost'), generation: 2 },
    target(),
    'say Preflight',
  ],
  [
    'a dry run that becomes a wet one begins anew',
    { status: at('Verifying', { target: { version: 'v1', kind: 'Widget', dryRun: true } }) },
    target(),
    'say Preflight',
  ],
  [
    'to be cleaned, too, it begins anew',
    { spec: { cleanManagedFields: true }, status: at('Verifying') },
    target(),
    'say Preflight',
  ],
  [
    'a pause is said',
    { spec: { pause: true }, status: at('Rewriting') },
    target(),
    'say Rewriting',
  ],
  [
    'a pause is said once',
    {
      spec: { pause: true },
      status: at('Rewriting', { conditions: [condition('Progressing', 'Paused')] }),
    },
    target(),
    'nothing',
  ],
  ['a pause comes before a missing kind', { spec: { pause: true } }, UNKNOWN, 'say'],
];

const CLEANING = { cleanManagedFields: true } as const;
const trimmedTo = (unserved: readonly string[], versions = ['v1alpha1', 'v1']) =>
  target({ generation: 3, storedVersions: ['v1'], versions, unserved });
const doneWith = (servedVersions?: readonly string[]): StorageMigrationStatus => {
  const { target: known } = DONE;
  if (known === undefined || servedVersions === undefined) return DONE;
  return { ...DONE, target: { ...known, servedVersions } };
};
const BOTH = ['v1alpha1', 'v1'];

/** To unserve a version, or to remove it at once, breaks nobody's applies. */
const UNSERVED: readonly Row[] = [
  ['all is served as it was', { spec: CLEANING, status: doneWith(BOTH) }, trimmedTo([]), 'nothing'],
  [
    'a version that is unserved is cleaned away',
    { spec: CLEANING, status: doneWith(BOTH) },
    trimmedTo(['v1alpha1']),
    'say Preflight',
  ],
  [
    'a version that is removed without that is cleaned away',
    { spec: CLEANING, status: doneWith(BOTH) },
    trimmedTo([], ['v1']),
    'say Preflight',
  ],
  [
    'what was unserved, and cleaned, may be removed',
    { spec: CLEANING, status: doneWith(['v1']) },
    trimmedTo([], ['v1']),
    'nothing',
  ],
  [
    'a version that is served again is remembered',
    { spec: CLEANING, status: doneWith(['v1']) },
    trimmedTo([]),
    'say Done',
  ],
  [
    'a migration of an earlier release cleans what is unserved',
    { spec: CLEANING, status: doneWith() },
    trimmedTo(['v1alpha1']),
    'say Preflight',
  ],
  [
    'one that was served for a while, between two looks, is cleaned away',
    { spec: CLEANING, status: doneWith(['v1']) },
    trimmedTo(['v1alpha1']),
    'say Preflight',
  ],
  [
    'one that is not served, and was cleaned, is left alone',
    { spec: CLEANING, status: doneWith(['v1']) },
    target({ storedVersions: ['v1'], versions: BOTH, unserved: ['v1alpha1'] }),
    'nothing',
  ],
  [
    'where nobody asked for it nothing is cleaned',
    { status: doneWith(BOTH) },
    trimmedTo(['v1alpha1']),
    'nothing',
  ],
];

const CHANGES: readonly Row[] = [
  ['another CRD of the name', { status: at('Verifying') }, target({ uid: 'u2' }), 'say Preflight'],
  ['another generation', { status: at('Verifying') }, target({ generation: 3 }), 'say Preflight'],
  [
    'another stored version',
    { status: at('Verifying') },
    target({ storage: 'v2' }),
    'say Preflight',
  ],
  [
    'another generation before the trim',
    { status: at('Trimming', { proof: PROOF }) },
    target({ generation: 3 }),
    'say Preflight',
  ],
  [
    'another generation while blocked',
    { status: blockedBy('ObjectsFailed') },
    target({ generation: 3 }),
    'say Preflight',
  ],
  [
    'another resourceVersion alone',
    { status: at('Verifying') },
    target({ resourceVersion: '9' }),
    'pass',
  ],
];

const WRONG: readonly Row[] = [
  [
    'during a pass',
    { status: at('Rewriting') },
    target({ storedVersions: ['v1'] }),
    'restore v1alpha1',
  ],
  [
    'while it is blocked',
    { status: blockedBy('ObjectsFailed') },
    target({ storedVersions: ['v1'] }),
    'restore v1alpha1',
  ],
  [
    'after the proof it is right',
    { status: at('Trimming', { proof: PROOF }) },
    target({ storedVersions: ['v1'] }),
    'trim',
  ],
  [
    'and the version removed',
    { status: at('Rewriting') },
    target({ storedVersions: ['v1'], versions: ['v1'] }),
    'restore v1alpha1',
  ],
];

const HOLDS: readonly Row[] = [
  ['as it was left', { status: DONE }, target({ storedVersions: ['v1'] }), 'nothing'],
  [
    'the schema alone changed',
    { status: DONE },
    target({ storedVersions: ['v1'], generation: 3 }),
    'nothing',
  ],
  ['another version was stored', { status: DONE }, target(), 'say Preflight'],
  [
    'another version is stored',
    { status: DONE },
    target({ storage: 'v2', storedVersions: ['v1', 'v2'] }),
    'say Preflight',
  ],
  [
    'the CRD was made anew',
    { status: DONE },
    target({ uid: 'u2', storedVersions: ['v1'] }),
    'say Preflight',
  ],
  ['the kind is gone', { status: DONE }, UNKNOWN, 'nothing'],
  ['untrimmed, as it was left', { status: at('Done', { proof: PROOF }) }, target(), 'nothing'],
  [
    'untrimmed, and the CRD was flipped and flipped back',
    { status: at('Done', { proof: PROOF }) },
    target({ generation: 4 }),
    'say Preflight',
  ],
  ['a dry run', { status: at('Done') }, target(), 'nothing'],
];

test.each([...PHASES, ...EDITS, ...UNSERVED])('%s', (_what, changes, found, step) => {
  expect(wordOf(decide(migration(changes), found))).toBe(step);
});

test.each(CHANGES)('of what was seen under another CRD nothing counts: %s', (...row) => {
  expect(wordOf(decide(migration(row[1]), row[2]))).toBe(row[3]);
});

test.each(WRONG)('a version that somebody took off the list without proof: %s', (...row) => {
  expect(wordOf(decide(migration(row[1]), row[2]))).toBe(row[3]);
});

test.each(HOLDS)('what is done holds as long as nothing else may be stored: %s', (...row) => {
  expect(wordOf(decide(migration(row[1]), row[2]))).toBe(row[3]);
});

test('a kind that is not there blocks, and says so once', () => {
  const before = migration({ status: at('Rewriting') });
  const first = decide(before, UNKNOWN);
  expect(first).toMatchObject({
    type: 'status',
    update: { status: { phase: 'Blocked', blockedIn: 'Rewriting' }, blocked: UNKNOWN },
  });
  const said = condition('Blocked', UNKNOWN.reason, UNKNOWN.message);
  const after = migration({ status: at('Blocked', { conditions: [said] }) });
  expect(decide(after, UNKNOWN)).toEqual({ type: 'nothing' });
});

test('a built-in kind has no list, no generation and no proof that could be undone', () => {
  const about = { version: 'v1', kind: 'ConfigMap', dryRun: false };
  const status = { observedGeneration: 1, target: about, proof: PROOF } as const;
  expect(decide(migration({ status: { ...status, phase: 'Trimming' } }), BUILT_IN).type).toBe(
    'trim',
  );
  expect(decide(migration({ status: { ...status, phase: 'Done' } }), BUILT_IN).type).toBe(
    'nothing',
  );
});

test('the samples agree with each other', () => {
  expect(crd().storedVersions).toEqual(at('Rewriting').storedVersions);
});

function wordOf(step: Step): string {
  if (step.type === 'restore') return `restore ${step.lacking.join(' ')}`;
  return step.type === 'status' ? `say ${step.update.status.phase ?? ''}`.trim() : step.type;
}
