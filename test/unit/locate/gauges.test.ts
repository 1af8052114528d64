// Metrics of the feed that locate reads, by the state of its replica.
import { expect, test } from 'vitest';
import { showState } from '../../../functions/locate/index.ts';
import { Metrics } from '../../../shared/function/metrics.ts';
import type { ReplicaState } from '../../../shared/nats/replica/state.ts';
import { shownMetrics } from '../../builders/shown-metrics.ts';

test('they follow the state of the replica, and forget what is no longer known', () => {
  const metrics = new Metrics();
  let listener: (state: ReplicaState) => void = () => undefined;
  const state: ReplicaState = { phase: 'connecting', version: 0 };
  const watchState = (tell: typeof listener): (() => void) => {
    listener = tell;
    return () => undefined;
  };
  showState({ state, watchState }, metrics);
  const shown = () => shownMetrics(metrics, 'ballast_feed_');
  expect(shown()).toEqual({ stale: 0, behind_messages: 0 });
  const times = { sweptAtMs: 60_000, verifiedAtMs: 120_000 };
  listener({ ...state, phase: 'catching-up', behind: 7, isStale: true, ...times });
  expect(shown()).toEqual({
    stale: 1,
    behind_messages: 7,
    swept_timestamp_seconds: 60,
    verified_timestamp_seconds: 120,
  });
  listener({ ...state, phase: 'current', version: 9, sweptAtMs: 60_000 });
  expect(shown()).toEqual({ stale: 0, behind_messages: 0, swept_timestamp_seconds: 60 });
});
