// A subject names exactly one object in one place, whatever somebody claims to be a name.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyText } from '../../builders/any-text.ts';
import {
  FLOOR_SUBJECT,
  MARKER_SUBJECT,
  type ObjectKey,
  type Place,
  checkpointSubject,
  decodeToken,
  encodeToken,
  ledgerFilter,
  ledgersOf,
  namespaceLedger,
  parseSubject,
  subjectOf,
} from '../../../shared/feed/subjects.ts';

const hostile = fc.constantFrom('*', '>', '.', ' ', '\t', '\r\n', '\0', '%', '%2e', '_', 'ü', '🦔');
const anyName = fc.oneof(
  anyText(1),
  fc.array(hostile, { minLength: 1 }).map((parts) => parts.join('')),
  fc.constantFrom('system:node', 'a.b', '..', '__proto__', 'x'.repeat(253)),
);
const anyKey: fc.Arbitrary<ObjectKey> = fc.record({
  resource: anyName,
  namespace: fc.oneof(fc.constant(''), anyName),
  name: anyName,
});
const anyPlace: fc.Arbitrary<Place> = fc.oneof(
  fc.constantFrom('all' as const, 'cluster' as const),
  anyName.map((node) => ({ node })),
);

/** As NATS does it. */
function matches(filter: string, subject: string): boolean {
  const wanted = filter.split('.');
  const tokens = subject.split('.');
  const isOpen = wanted.at(-1) === '>';
  if (isOpen ? tokens.length < wanted.length : tokens.length !== wanted.length) return false;
  return wanted.every((token, at) => ['*', '>', tokens[at]].includes(token));
}

test('what was put into a subject comes out of it, and nothing in it is special to NATS', () => {
  fc.assert(
    fc.property(anyPlace, anyKey, (place, key) => {
      const subject = subjectOf(place, key);
      expect(parseSubject(subject)).toEqual({ place, key });
      const tokens = subject.split('.');
      expect(tokens).toHaveLength(5);
      for (const token of tokens) expect(token).toMatch(/^(_|[A-Za-z0-9%-]+)$/);
    }),
    { numRuns: 1_000 },
  );
});

test('two objects never stand on one subject', () => {
  fc.assert(
    fc.property(anyPlace, anyKey, anyPlace, anyKey, (placeA, keyA, placeB, keyB) => {
      const isSame = JSON.stringify([placeA, keyA]) === JSON.stringify([placeB, keyB]);
      expect(subjectOf(placeA, keyA) === subjectOf(placeB, keyB)).toBe(isSame);
    }),
  );
});

test('what has no namespace is not what is in the namespace of that sign', () => {
  const key = { resource: 'nodes', namespace: '', name: 'n' };
  expect(subjectOf('all', key)).toBe('all._.nodes._.n');
  expect(subjectOf('all', { ...key, namespace: '_' })).toBe('all._.nodes.%5f.n');
  expect(subjectOf({ node: '_' }, key)).toBe('node.%5f.nodes._.n');
});

test('every object is in two ledgers, and their filters find it and no other ledger’s', () => {
  fc.assert(
    fc.property(anyPlace, anyKey, anyKey, (place, key, other) => {
      const subject = subjectOf(place, key);
      const [scope, space] = ledgersOf(subject);
      expect(space).toBe(namespaceLedger(key.namespace));
      expect(matches(ledgerFilter(scope), subject)).toBe(true);
      expect(matches(ledgerFilter(space), subject)).toBe(true);
      const elsewhere = subjectOf({ node: `${other.name}x` }, other);
      const [otherScope, otherSpace] = ledgersOf(elsewhere);
      expect(matches(ledgerFilter(otherScope), subject)).toBe(otherScope === scope);
      expect(matches(ledgerFilter(otherSpace), subject)).toBe(otherSpace === space);
    }),
  );
});

test('checkpoints, marker and floor are no objects', () => {
  const ledgers = ['node.n1', 'all._', 'cluster._', 'namespace.web', 'namespace._'];
  const subjects = [MARKER_SUBJECT, FLOOR_SUBJECT, ...ledgers.map(checkpointSubject)];
  expect(subjects.filter((subject) => parseSubject(subject) !== undefined)).toEqual([]);
});

test.each([
  '',
  'all',
  'all._.pods.web',
  'all._.pods.web.a.b',
  'every._.pods.web.a',
  'Node.n.p.w.a',
])('the subject %j is none of ours', (subject) => {
  expect(parseSubject(subject)).toBeUndefined();
});

test('a token that nobody encoded stays what it is', () => {
  expect(decodeToken('%zz')).toBe('%zz');
  expect(encodeToken('a.b:c_d')).toBe('a%2eb%3ac%5fd');
});
