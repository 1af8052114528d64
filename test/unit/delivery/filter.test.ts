// Trigger filters, dialect by dialect.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Event } from '../../../knative/try/local/delivery/event.ts';
import { passes } from '../../../knative/try/local/delivery/filter.ts';
import type { Filter } from '../../../knative/try/local/manifests/wiring.ts';

const EVENT: Event = {
  attributes: {
    specversion: '1.0',
    id: '1',
    source: '/s',
    type: 'dev.knative.apiserver.ref.add',
    kind: 'Node',
    namespace: '',
  },
  data: Buffer.alloc(0),
};

type Values = Readonly<Record<string, string>>;
const attributes = (values: Values): Filter => ({ dialect: 'attributes', values });
const exact = (values: Values): Filter => ({ dialect: 'exact', values });
const prefix = (values: Values): Filter => ({ dialect: 'prefix', values });
const suffix = (values: Values): Filter => ({ dialect: 'suffix', values });

test.each<readonly [name: string, filter: Filter, isPassed: boolean]>([
  ['no attribute at all passes every event', attributes({}), true],
  ['the same value passes', attributes({ kind: 'Node' }), true],
  ['another value fails', attributes({ kind: 'Pod' }), false],
  ['another case fails', attributes({ kind: 'node' }), false],
  ['all attributes must match', attributes({ kind: 'Node', id: '2' }), false],
  ['the empty text matches any value', attributes({ kind: '' }), true],
  ['the empty text does not match an empty value', attributes({ namespace: '' }), false],
  ['the empty text does not match an absent attribute', attributes({ name: '' }), false],
  ['an absent subject counts as empty', attributes({ subject: '' }), false],
  ['exact passes the same value', exact({ kind: 'Node' }), true],
  ['exact fails a longer one', exact({ kind: 'Nod' }), false],
  ['exact fails an absent attribute', exact({ name: 'n' }), false],
  ['prefix passes the beginning', prefix({ type: 'dev.knative.apiserver.' }), true],
  ['prefix fails another beginning', prefix({ type: 'knative' }), false],
  ['prefix fails an absent attribute', prefix({ name: 'n' }), false],
  ['suffix passes the end', suffix({ type: '.add' }), true],
  ['suffix fails another end', suffix({ type: '.ref' }), false],
  ['two values of one filter must both match', suffix({ type: '.add', kind: 'x' }), false],
  [
    'all passes when all pass',
    { dialect: 'all', filters: [exact({ id: '1' }), prefix({ id: '1' })] },
    true,
  ],
  [
    'all fails when one fails',
    { dialect: 'all', filters: [exact({ id: '1' }), exact({ id: '2' })] },
    false,
  ],
  [
    'any passes when one passes',
    { dialect: 'any', filters: [exact({ id: '2' }), exact({ id: '1' })] },
    true,
  ],
  [
    'any fails when all fail',
    { dialect: 'any', filters: [exact({ id: '2' }), exact({ id: '3' })] },
    false,
  ],
  ['not turns it round', { dialect: 'not', filter: exact({ id: '2' }) }, true],
  ['not passes an absent attribute', { dialect: 'not', filter: exact({ name: 'n' }) }, true],
])('%s', (_name, filter, isPassed) => {
  expect(passes(filter, EVENT)).toBe(isPassed);
});

const values = fc.dictionary(
  fc.constantFrom('id', 'kind', 'name'),
  fc.constantFrom('1', 'Node', 'N'),
  {
    minKeys: 1,
  },
);
const leaf = fc.record({
  dialect: fc.constantFrom('exact' as const, 'prefix' as const, 'suffix' as const),
  values,
});
const { tree } = fc.letrec<{ tree: Filter }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.record({
      dialect: fc.constantFrom('all' as const, 'any' as const),
      filters: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ dialect: fc.constant('not' as const), filter: tie('tree') }),
  ),
}));

test('any is the opposite of all of the opposites, for every tree', () => {
  fc.assert(
    fc.property(fc.array(tree, { minLength: 1, maxLength: 3 }), (filters) => {
      const opposites = filters.map((filter) => ({ dialect: 'not', filter }) as const);
      const any = passes({ dialect: 'any', filters }, EVENT);
      expect(any).toBe(!passes({ dialect: 'all', filters: opposites }, EVENT));
    }),
  );
});
