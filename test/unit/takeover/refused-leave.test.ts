// The API server lets no old server of a NATS go, by a right, a policy or a webhook: it is said
// before it is noted that nothing leads back, so that a rollback works.
import { expect, test } from 'vitest';
import { beginChart } from './chart-world.ts';
import { once } from './lives.ts';
import { NatsCarrying } from './nats-carrying.ts';
import { namesOf, specIn } from './takeover-run.ts';

const LONG = 40;
const RUNS = [
  ['a pod', () => NatsCarrying.confirmed(), 'pods to be deleted', ''],
  [
    'a StatefulSet',
    () => NatsCarrying.confirmed(() => beginChart()),
    'statefulsets to be patched',
    '--chart old',
  ],
] as const;

async function refusedAt(run: NatsCarrying, refused: string, isTime: () => boolean) {
  run.befalls = once(isTime, () => {
    run.kube.refuses = (what) => what === refused;
  });
  expect(await run.converge(LONG)).toBe(false);
}

const ofOld = (run: NatsCarrying): readonly string[] =>
  namesOf(run, 'pods').filter((name) => name.startsWith('old-'));

test.each(RUNS)('by %s: it is said, and can be rolled back', async (_, start, what, granted) => {
  const run = await start();
  const { selector } = specIn(run, 'services/old');
  await refusedAt(run, what, () => run.step === 'MoveClients');
  expect(run.condition()).toBe('True LeaveRefused');
  expect(run.advice()).toContain('could be ended: A policy says no.');
  expect(run.advice()).toContain(`-- takeover -n shop ${granted}`);
  expect(run.status.work?.switchingAt).toBeUndefined();
  run.edit({ rollback: true });
  expect(await run.converge(LONG)).toBe(true);
  expect([run.status.phase, ofOld(run).length]).toEqual(['RolledBack', 3]);
  expect(specIn(run, 'services/old').selector).toEqual(selector);
});

test.each(RUNS)('by %s: it goes on once that is allowed', async (_, start, what) => {
  const run = await start();
  await refusedAt(run, what, () => run.step === 'MoveClients');
  run.kube.refuses = () => false;
  expect(await run.converge(LONG)).toBe(true);
  expect([run.status.phase, ofOld(run)]).toEqual(['Done', []]);
});
