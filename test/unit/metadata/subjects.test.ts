// A subject names exactly one object, whatever somebody claims to be a name.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { subjectFilters, subjectTail, tailOf } from '../../../functions/metadata/subjects.ts';

const anyKey = fc.record({
  kind: fc.constantFrom('Pod' as const, 'Node' as const),
  namespace: fc.string({ minLength: 1, unit: 'binary' }),
  name: fc.string({ minLength: 1, unit: 'binary' }),
});

test('no name brings a wildcard, a dot or a blank into a filter', () => {
  fc.assert(
    fc.property(anyKey, (key) => {
      const tokens = subjectTail(key).split('.');
      expect(tokens).toHaveLength(key.kind === 'Pod' ? 3 : 2);
      for (const token of tokens) expect(token).toMatch(/^[A-Za-z0-9%-]+$/);
    }),
  );
});

test('what stands on a subject is found again by its object', () => {
  const key = { kind: 'Pod', namespace: 'web', name: 'a.b' } as const;
  expect(subjectFilters(key)).toEqual(['all.pod.web.a%2eb', 'node.*.pod.web.a%2eb']);
  expect(tailOf('node.n1.pod.web.a%2eb')).toBe(subjectTail(key));
  expect(tailOf('all.pod.web.a%2eb')).toBe(subjectTail(key));
});
