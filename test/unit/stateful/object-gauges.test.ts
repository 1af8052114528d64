// Gauges of objects: what is shown of one, and that nothing is once it is gone.
import { expect, test } from 'vitest';
import { Metrics } from '../../../shared/function/metrics.ts';
import { ObjectGauges } from '../../../shared/stateful/object-gauges.ts';
import { shownMetrics } from '../../builders/shown-metrics.ts';

test('an object is shown as it is now, and not once it is gone', () => {
  const metrics = new Metrics();
  const gauges = new ObjectGauges(metrics, ['name'], { a: 'A.', b: 'B.' });
  const shown = () => shownMetrics(metrics, '');
  gauges.show('u1', { name: 'one' }, { a: 1, b: 2 });
  gauges.show('u2', { name: 'two' }, { a: 3, b: undefined });
  expect(shown()).toEqual({ 'a one': 1, 'b one': 2, 'a two': 3 });
  gauges.show('u1', { name: 'one' }, { a: 4, b: undefined });
  expect(shown()).toEqual({ 'a one': 4, 'a two': 3 });
  gauges.keepOnly(new Set(['u2']));
  expect(shown()).toEqual({ 'a two': 3 });
});
