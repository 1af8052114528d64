// The last words of a pod are believed only in the form of our program: others may write them.
import { expect, test } from 'vitest';
import { resultIn } from '../../../functions/etcd-backup/result.ts';
import { FACTS, LOCATION, said, saidError } from './samples.ts';

const resultOf = (message: string, isSealed = false) => resultIn(message, LOCATION, isSealed);

test('facts and errors come back as they were written', () => {
  expect(resultOf(said())).toEqual({ facts: FACTS });
  const more = { isHashConfirmed: false, unconfirmed: 'nobody answered', alarms: ['CORRUPT'] };
  expect(resultOf(said(more))).toEqual({ facts: { ...FACTS, ...more } });
  const error = { code: 'DISK_FULL', message: 'The disk is full.' };
  expect(resultOf(saidError(error.code, error.message))).toEqual({ error });
});

const encryption = {
  format: 'ballast-sealed/v1',
  keyId: '0123456789abcdef',
  plainSizeBytes: 3_039_000,
  plainSha256: 'b'.repeat(64),
};

test('one that was to be encrypted counts when it is, and no other does', () => {
  expect(resultOf(said({ encryption }), true)).toEqual({ facts: { ...FACTS, encryption } });
  expect(resultOf(said({ encryption }))).toBeUndefined();
  expect(resultOf(said(), true)).toBeUndefined();
});

test.each<[string, unknown]>([
  ['format', ''],
  ['keyId', 'A'.repeat(16)],
  ['keyId', 'a'.repeat(64)],
  ['plainSizeBytes', -1],
  ['plainSha256', undefined],
])('encryption.%s is not %j', (field, value) => {
  const changed = { encryption: { ...encryption, [field]: value } };
  expect(resultOf(said(changed), true)).toBeUndefined();
  expect(resultOf(said({ encryption: 'yes' }), true)).toBeUndefined();
});

test.each<[string, string]>([
  ['nothing', ''],
  ['no JSON', '{"outcome":'],
  ['a list', '[]'],
  ['another outcome', JSON.stringify({ outcome: 'perhaps' })],
  ['no facts', JSON.stringify({ outcome: 'done', backup: LOCATION })],
  ['another backup', said({}, 's3://backups/other.db')],
  ['too much', said({ more: 'x'.repeat(4_096) })],
  ['an error without a code', JSON.stringify({ outcome: 'failed', error: { message: 'x' } })],
  ['a code of another form', saidError('no code', 'x')],
])('%s is none', (_, message) => {
  expect(resultOf(message)).toBeUndefined();
});

test.each<[string, unknown]>([
  ['kind', 'etcd-backup/v2'],
  ['takenAt', 'yesterday'],
  ['takenAt', '2026-13-45T04:42:16Z'],
  ['sizeBytes', -1],
  ['sizeBytes', 1.5],
  ['sizeBytes', 1e300],
  ['sha256', 'a'.repeat(63)],
  ['revision', 6],
  ['revision', '6 or so'],
  ['compactRevision', '9'.repeat(21)],
  ['keys', '5'],
  ['hashKv', null],
  ['isHashConfirmed', 'true'],
  ['etcdVersion', '\u001B[31m3.6.16'],
  ['clusterId', 'main'],
  ['memberId', ''],
  ['alarms', [{}]],
])('%s is not %j', (field, value) => {
  expect(resultOf(said({ [field]: value }))).toBeUndefined();
});

test('words are cut, and move no cursor', () => {
  const rude = `\u001B[2Jall is well ${'x'.repeat(2_000)}`;
  const facts = resultOf(said({ isHashConfirmed: false, unconfirmed: rude }));
  const error = resultOf(saidError('S3_REFUSED', rude));
  const shown = [
    facts !== undefined && 'facts' in facts ? facts.facts.unconfirmed : undefined,
    error !== undefined && 'error' in error ? error.error.message : undefined,
  ];
  for (const text of shown) {
    expect(text).toMatch(/^\\u001b\[2Jall is well x+…$/);
    expect(Buffer.byteLength(text ?? '')).toBeLessThanOrEqual(1_000);
  }
});
