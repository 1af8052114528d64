// Amounts of storage, memory and processors, in every spelling that Kubernetes takes.
import { expect, test } from 'vitest';
import { quantityOf } from '../../../shared/kube/quantity.ts';

test.each([
  ['10Gi', 10 * 2 ** 30],
  ['1k', 1_000],
  ['500m', 0.5],
  ['16777216000000u', 16_777_216],
  ['16777216000000000n', 16_777_216],
  ['1.5Gi', 1.5 * 2 ** 30],
  ['1e3', 1_000],
  ['ten', Number.NaN],
])('%s is %d', (text, amount) => {
  expect(quantityOf(text)).toBe(amount);
});
