// The facts beside a sealed backup: they tell nothing of its content to whoever has no key, and
// nobody without it changes or exchanges them.
import { expect, test } from 'vitest';
import { openedFacts, hiddenFacts } from '../../../shared/sealed/facts.ts';
import { keyFiles, keyOf } from './samples.ts';

const write = keyFiles();
const key = await keyOf(write, 1);
const other = await keyOf(write, 2);

const FACTS = {
  kind: 'etcd-backup/v1',
  takenAt: '2026-11-25T04:42:16.825Z',
  sizeBytes: 3_040_000,
  sha256: 'a'.repeat(64),
  revision: '6',
  compactRevision: '1',
  keys: 5,
  hashKv: 1_234_567_890,
  isHashConfirmed: false,
  unconfirmed: 'no member told the hash: https://10.0.0.1:2379 is away',
  etcdVersion: '3.6.16',
  clusterId: 'cdf818194e3a8c32',
  memberId: '8e9e05c52164694d',
  encryption: {
    format: 'ballast-sealed/v1',
    keyId: key.id,
    plainSizeBytes: 3_039_264,
    plainSha256: 'b'.repeat(64),
  },
};

type Stored = Record<string, unknown> & { encryption: Record<string, unknown> };

/** As they are written, and read again. */
const stored = (facts = FACTS): Stored =>
  JSON.parse(JSON.stringify({ ...hiddenFacts(facts, key), writer: 'w', seal: 's' })) as Stored;

test('with the key they are what they were, whichever attempt has written them', () => {
  const { seal: _, ...found } = stored();
  const turned = Object.fromEntries(Object.entries({ ...found, writer: 'x' }).toReversed());
  expect(openedFacts(turned, key, 'it')).toEqual({ ...FACTS, writer: 'x' });
});

test('without it they have no hash of the content, and no words of a member', () => {
  const text = JSON.stringify(stored());
  for (const hidden of ['1234567890', 'b'.repeat(64), '10.0.0.1'])
    expect(text).not.toContain(hidden);
  expect(Object.keys(stored()).toSorted()).toEqual(
    [...Object.keys(FACTS), 'seal', 'writer']
      .filter((name) => name !== 'hashKv' && name !== 'unconfirmed')
      .toSorted(),
  );
});

test('each field that is another one, that lacks or that was added is refused', () => {
  const names = Object.keys(stored()).filter((name) => !['writer', 'seal'].includes(name));
  const changes = names
    .filter((name) => name !== 'encryption')
    .flatMap((name): object[] => [
      { ...stored(), [name]: 'other' },
      Object.fromEntries(Object.entries(stored()).filter(([one]) => one !== name)),
    ]);
  const { encryption } = stored();
  for (const name of ['format', 'plainSizeBytes', 'more']) {
    changes.push({ ...stored(), encryption: { ...encryption, [name]: 'other' } });
  }
  changes.push({ ...stored(), more: 1 });
  expect(changes.length).toBeGreaterThan(20);
  for (const found of changes) {
    expect(() => openedFacts(found as Stored, key, 'it')).toThrow('written otherwise');
  }
});

test('what is hidden in those of another backup does not go with these', () => {
  const { hidden } = stored({ ...FACTS, revision: '7' }).encryption;
  const found = { ...stored(), encryption: { ...stored().encryption, hidden } };
  expect(() => openedFacts(found, key, 'it')).toThrow('written otherwise');
});

test.each<[string, unknown]>([
  ['a key id of nobody', { ...stored().encryption, keyId: '\u001B[2J' }],
  ['nothing hidden', { ...stored().encryption, hidden: undefined }],
])('%s is refused', (_, encryption) => {
  expect(() => openedFacts({ ...stored(), encryption }, key, 'it')).toThrow('not written');
});

test('a key that lacks, one too many, and another one are told apart', () => {
  const { encryption: _, ...plain } = FACTS;
  expect(openedFacts(plain, undefined, 'it')).toEqual(plain);
  const told = (of: object, by: typeof key | undefined) => {
    try {
      return openedFacts(of as Stored, by, 'it');
    } catch (error) {
      return [Object(error).code, Object(error).message];
    }
  };
  expect(told(stored(), undefined)).toEqual(['BACKUP_SEALED', expect.stringContaining(key.id)]);
  expect(told(plain, key)).toEqual(['BACKUP_UNSEALED', expect.stringContaining('in the place')]);
  expect(told(stored(), other)).toEqual([
    'BACKUP_KEY_WRONG',
    expect.stringMatching(new RegExp(`${key.id}.*${other.id}`)),
  ]);
});
