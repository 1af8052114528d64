// Since when an object with servers is not as it is to be, by its conditions before and now.
import { expect, test } from 'vitest';
import { Metrics } from '../../../shared/function/metrics.ts';
import type { ConditionInput } from '../../../shared/kube/conditions.ts';
import type { Decision } from '../../../shared/stateful/decision.ts';
import { ServersGauges } from '../../../shared/stateful/servers-gauges.ts';
import { shownMetrics } from '../../builders/shown-metrics.ts';
import { NOW_MS } from './samples.ts';

const OF = { prefix: 'db', kind: 'a Database', label: 'database' };
const EARLIER = '2026-01-01T12:00:00Z';
const EARLIER_S = Date.parse(EARLIER) / 1_000;
const NOW_S = NOW_MS / 1_000;

const conditions = (...said: readonly string[]): readonly ConditionInput[] =>
  said.map((one) => {
    const [type = '', status = ''] = one.split(' ');
    return { type, status: status as ConditionInput['status'], reason: 'R', message: 'M.' };
  });

const WELL = ['Ready True', 'Progressing False', 'Degraded False'];
const BUSY = ['Ready False', 'Progressing True', 'Degraded False'];
const ILL = ['Ready Unknown', 'Progressing False', 'Degraded True'];
const why = { reason: 'R', message: 'M.' };
const NOTHING = { next: 'Nothing' };

function shown(
  before: readonly string[],
  now: readonly string[],
  decision: Decision<unknown>,
): readonly (number | undefined)[] {
  const metrics = new Metrics();
  const gauges = new ServersGauges(metrics, OF, { more: 'More of KIND.' });
  const status = {
    conditions: conditions(...before).map((one) => ({ ...one, lastTransitionTime: EARLIER })),
  };
  const metadata = { namespace: 'shop', name: 'db', uid: 'u1', resourceVersion: '1' };
  const object = { apiVersion: 'example.org/v1', kind: 'Database', metadata, status };
  const kept = { object, namespace: 'shop', name: 'db', uid: 'u1', generation: 1, status };
  const seen = { nowMs: NOW_MS, decision, conditions: conditions(...now) };
  gauges.show(kept, seen, { more: 7 });
  const all = shownMetrics(metrics, 'db_');
  expect(all['more shop/db']).toBe(7);
  expect(all['observed_timestamp_seconds shop/db']).toBe(NOW_S);
  return ['not_ready', 'degraded', 'changing']
    .map((name) => all[`${name}_since_timestamp_seconds shop/db`])
    .concat(all['waiting shop/db']);
}

test.each<[string, readonly string[], readonly string[], Decision<unknown>, readonly number[]]>([
  ['it is well', WELL, WELL, NOTHING, [0, 0, 0, 0]],
  ['it was ill', ILL, WELL, NOTHING, [0, 0, 0, 0]],
  ['it is changed since a while', BUSY, BUSY, { next: 'Add' }, [EARLIER_S, 0, EARLIER_S, 0]],
  ['a change begins', WELL, BUSY, { next: 'Add' }, [NOW_S, 0, NOW_S, 0]],
  ['a step waits', BUSY, BUSY, { next: 'Add', waitsFor: why }, [EARLIER_S, 0, EARLIER_S, 1]],
  ['it is ill since now', BUSY, ILL, { next: 'Add', trouble: why }, [EARLIER_S, NOW_S, 0, 1]],
  ['it is left alone', WELL, WELL, { next: 'Nothing', waitsFor: why }, [0, 0, 0, 0]],
  ['nobody has looked before', [], ILL, { next: 'Add', trouble: why }, [NOW_S, NOW_S, 0, 1]],
])('since when, while %s', (_, before, now, decision, expected) => {
  expect(shown(before, now, decision)).toEqual(expected);
});

test('its metrics name the kind', () => {
  const metrics = new Metrics();
  const gauges = new ServersGauges(metrics, OF, { more: 'More of KIND.' });
  gauges.keepOnly(new Set());
  const help = [...metrics.all()].map((one) => one.help);
  expect(help).toContain('More of a Database.');
  expect(help.filter((text) => text.includes('KIND'))).toEqual([]);
});
