// The sum over a set of messages: the same for the same set, and one that others can compute too.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Digest, type Fingerprint, fingerprint } from '../../../shared/feed/digest.ts';

/** Known sums, computed with sha256sum: whoever writes a reader may check theirs against them. */
const VECTORS = [
  {
    subject: 'node.n1.pods.web.a',
    data:
      '{"epoch":1,"kind":"Pod","namespace":"web","name":"a","uid":"u1",' +
      '"resourceVersion":"7","ready":false}',
    digest: '6b0660187e96217f',
  },
  {
    subject: 'all._.nodes._.n%2e1',
    data: '{"epoch":1,"kind":"Node","name":"n.1","uid":"u2","resourceVersion":"8","ready":true}',
    digest: '7cea63a8edc5e237',
  },
];

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function digestOf(fingerprints: readonly Fingerprint[]): Digest {
  const digest = new Digest();
  for (const entry of fingerprints) digest.add(entry);
  return digest;
}

test.each(VECTORS)('the digest of $subject alone is $digest', ({ subject, data, digest }) => {
  expect(digestOf([fingerprint(subject, bytes(data))]).toString()).toBe(digest);
});

test('the digest of both is the XOR of their sums', () => {
  const both = digestOf(VECTORS.map(({ subject, data }) => fingerprint(subject, bytes(data))));
  expect(both.toString()).toBe('17ec03b09353c348');
  expect(both.objects).toBe(2);
});

test('the digest of nothing is zero, in all its digits', () => {
  expect(new Digest().toString()).toBe('0000000000000000');
});

const anyMessage = fc.tuple(fc.string(), fc.uint8Array());
const anyFingerprint = anyMessage.map(([subject, data]) => fingerprint(subject, data));

test('the order in which messages come does not matter', () => {
  fc.assert(
    fc.property(fc.array(anyFingerprint), fc.nat(), (all, at) => {
      const turned = [...all.slice(at % (all.length + 1)), ...all.slice(0, at % (all.length + 1))];
      expect(digestOf(turned.toReversed()).toString()).toBe(digestOf(all).toString());
    }),
  );
});

test('what is added and removed again leaves no trace', () => {
  fc.assert(
    fc.property(fc.array(anyFingerprint), fc.array(anyFingerprint), (stay, go) => {
      const digest = digestOf([...go, ...stay]);
      for (const entry of go) digest.remove(entry);
      expect(digest.toString()).toBe(digestOf(stay).toString());
      expect(digest.objects).toBe(stay.length);
      expect(digest.toString()).toMatch(/^[0-9a-f]{16}$/);
    }),
  );
});

test('another subject or another byte is another fingerprint', () => {
  fc.assert(
    fc.property(anyMessage, anyMessage, ([subjectA, a], [subjectB, b]) => {
      const isSame = subjectA === subjectB && Buffer.compare(a, b) === 0;
      const [left, right] = [fingerprint(subjectA, a), fingerprint(subjectB, b)];
      expect(left.high === right.high && left.low === right.low).toBe(isSame);
    }),
  );
});
