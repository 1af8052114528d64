// Rates from counters that only grow, and from counters that began anew.
import { expect, test } from 'vitest';
import fc from 'fast-check';
import { Rates } from '../../../knative/try/local/view/rates.ts';

const one = (value: number): ReadonlyMap<string, number> => new Map([['add', value]]);

test('a rate is the growth over the last five seconds', () => {
  const rates = new Rates();
  rates.read(0, one(100));
  rates.read(1_000, one(110));
  expect(rates.read(2_000, one(130)).get('add')).toEqual({ total: 130, perSecond: 15 });
  expect(rates.read(8_000, one(130)).get('add')?.perSecond).toBe(0);
});

test('the first look shows the total and no rate', () => {
  expect(new Rates().read(0, one(7)).get('add')).toEqual({ total: 7, perSecond: 0 });
});

test('a counter that starts anew goes on from what it had', () => {
  const rates = new Rates();
  rates.read(0, one(100));
  expect(rates.read(1_000, one(3)).get('add')).toEqual({ total: 103, perSecond: 3 });
});

test('what is of another stream now does not add up with the one before', () => {
  const rates = new Rates();
  rates.read(0, one(100));
  rates.read(1_000, one(3));
  expect([rates.lastRead('add'), rates.lastRead('none')]).toEqual([3, undefined]);
});

test('a counter that cannot be read for a while keeps its total', () => {
  const rates = new Rates();
  rates.read(0, one(100));
  expect(rates.read(1_000, new Map()).get('add')).toEqual({ total: 100, perSecond: 0 });
});

test('whatever counters do, totals never fall and rates are never negative', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000)), (values) => {
      const rates = new Rates();
      let before = 0;
      for (const [index, value] of values.entries()) {
        const counted = rates.read(index * 700, one(value)).get('add');
        expect(counted?.total).toBeGreaterThanOrEqual(before);
        expect(counted?.perSecond).toBeGreaterThanOrEqual(0);
        before = counted?.total ?? 0;
      }
    }),
  );
});
