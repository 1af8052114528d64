// Gauges of objects: under which labels one is shown, and when it no longer is.
import { expect, test } from 'vitest';
import { Metrics } from '../../../shared/function/metrics.ts';
import { ObjectGauges } from '../../../shared/stateful/object-gauges.ts';
import { shownMetrics } from '../../builders/shown-metrics.ts';

test('an object is shown under the labels that it has now, and not once it is gone', () => {
  const metrics = new Metrics();
  const gauges = new ObjectGauges(metrics, ['name', 'reason'], { a: 'A.', b: 'B.' });
  const shown = () => shownMetrics(metrics, '');
  gauges.show('u1', { name: 'one', reason: 'Old' }, { a: 1, b: 2 });
  gauges.show('u2', { name: 'two', reason: 'Old' }, { a: 3, b: undefined });
  expect(shown()).toEqual({ 'a one/Old': 1, 'b one/Old': 2, 'a two/Old': 3 });
  gauges.show('u1', { name: 'one', reason: 'New' }, { a: 4, b: undefined });
  expect(shown()).toEqual({ 'a one/New': 4, 'a two/Old': 3 });
  gauges.keepOnly(new Set(['u2']));
  expect(shown()).toEqual({ 'a two/Old': 3 });
});
