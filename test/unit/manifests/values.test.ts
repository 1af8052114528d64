// Durations and label selectors, as Knative and the API server read them.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { durationMs } from '../../../knative/try/local/manifests/duration.ts';
import { Fields } from '../../../knative/try/local/manifests/fields.ts';
import { readLabelSelector } from '../../../knative/try/local/manifests/label-selector.ts';

describe('durations', () => {
  test.each([
    ['PT0.2S', 200],
    ['PT0,5S', 500],
    ['PT1M30S', 90_000],
    ['PT2H', 7_200_000],
    ['P1D', 86_400_000],
    ['P1DT1S', 86_401_000],
    ['P2W', 1_209_600_000],
    ['PT0S', 0],
  ])('%s is %d ms', (text, ms) => {
    expect(durationMs(text)).toBe(ms);
  });

  test.each(['', 'P', 'PT', 'P1DT', '5s', 'PT5', 'P1Y', 'P1M', 'PT-1S', 'pt1s', 'PT1S '])(
    '"%s" is none',
    (text) => {
      expect(durationMs(text)).toBeUndefined();
    },
  );

  test('hours, minutes and seconds add up', () => {
    const part = fc.nat(10_000);
    fc.assert(
      fc.property(part, part, part, (hours, minutes, seconds) => {
        const expected = (hours * 3_600 + minutes * 60 + seconds) * 1_000;
        expect(durationMs(`PT${hours}H${minutes}M${seconds}S`)).toBe(expected);
      }),
    );
  });
});

describe('label selectors', () => {
  const read = (selector: unknown): string => readLabelSelector(new Fields('f', 's', selector));

  test.each([
    [{}, ''],
    [{ matchLabels: { b: '2', a: '1' } }, 'a=1,b=2'],
    [{ matchExpressions: [{ key: 'k', operator: 'In', values: ['y', 'x'] }] }, 'k in (x,y)'],
    [{ matchExpressions: [{ key: 'k', operator: 'NotIn', values: ['x'] }] }, 'k notin (x)'],
    [{ matchExpressions: [{ key: 'k', operator: 'Exists' }] }, 'k'],
    [
      { matchExpressions: [{ key: 'k', operator: 'DoesNotExist' }], matchLabels: { a: 'b' } },
      'a=b,!k',
    ],
  ])('%j reads %s', (selector, text) => {
    expect(read(selector)).toBe(text);
  });

  test.each([
    [{ matchExpressions: [{ key: 'k', operator: 'Exists', values: ['x'] }] }, 'values'],
    [{ matchExpressions: [{ key: 'k', operator: 'Like', values: ['x'] }] }, 'operator'],
    [{ matchFields: {} }, 'matchFields'],
  ])('%j is refused for its %s', (selector, field) => {
    expect(() => read(selector)).toThrow(field);
  });
});
