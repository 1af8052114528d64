// Events of one cluster that come while it is being looked at: none is answered for a look that
// began before its change.
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Deps } from '../../../functions/nats-cluster/deps.ts';
import { reconciler } from '../../../functions/nats-cluster/reconciler.ts';
import type { Context, IncomingEvent } from '../../../shared/function/define.ts';
import { Run } from './model/run.ts';
import { systemOf } from './model/system-model.ts';

test('a change that comes while another event waits is seen before it is answered', async () => {
  const run = new Run();
  await run.converge();
  const { model } = run;
  const held = Promise.withResolvers<void>();
  const isAsked = Promise.withResolvers<void>();
  const deps = new Deps({
    kube: model.kube.client,
    openSystem: async () => {
      isAsked.resolve();
      await held.promise;
      return systemOf(model);
    },
    clock: { nowMs: () => model.nowMs, sleep: async () => model.tick() },
    workMs: 5_000,
    lease: { namespace: 'n', name: 'unused', sweepSeconds: 60 },
  });
  const signal = new AbortController().signal;
  const context = {
    deps,
    log: pino({ level: 'silent' }),
    signal,
  } as unknown as Context<Deps>;
  const data = { kind: 'NatsCluster', metadata: { namespace: 'shop', name: 'nats' } };
  const change = () => reconciler.takeChange({ data } as unknown as IncomingEvent, context);
  const first = change();
  await isAsked.promise;
  const { reads } = model.kube;
  const second = change();
  // It has read the object, and waits.
  await expect.poll(() => model.kube.reads).toBe(reads + 1);
  run.edit({ lameDuck: { graceSeconds: 20, durationSeconds: 60 } });
  const third = change();
  held.resolve();
  await Promise.all([first, second, third]);
  const object = model.kube.objects.get('natsclusters/shop/nats');
  expect(model.status()).toMatchObject({ observedGeneration: object?.metadata.generation });
});
