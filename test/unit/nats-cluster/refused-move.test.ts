// A stream that NATS does not move off a server that is to go: that is told, and not asked for all
// the time.
import { expect, test } from 'vitest';
import { Run } from './model/run.ts';

async function leaving(): Promise<Run> {
  const run = new Run();
  run.edit({ replicas: 5 });
  await run.converge();
  run.model.addStream('ORDERS', ['nats-0', 'nats-1', 'nats-4']);
  run.edit({ replicas: 3 });
  return run;
}

test('a move that NATS refuses is told with its words, and asked for once a look', async () => {
  const run = await leaving();
  run.model.refusesMoves = 'no suitable peers for placement';
  for (let sweeps = 0; sweeps < 4; sweeps += 1) await run.sweep();
  const refusedBefore = run.model.movesRefused;
  const before = run.writes.length;
  for (let sweeps = 0; sweeps < 4; sweeps += 1) await run.sweep();
  expect(run.model.movesRefused - refusedBefore).toBe(4);
  expect(run.writes.slice(before)).toEqual([]);
  const { status, reason, message } = run.condition('Degraded');
  expect([status, reason]).toEqual(['True', 'StreamMoveRefused']);
  expect(message).toContain('stream ORDERS of account DEFAULT');
  expect(message).toContain('no suitable peers for placement');
  expect(run.condition('Progressing').status).toBe('False');
  run.model.refusesMoves = undefined;
  await run.converge();
  expect(run.model.size).toBe(3);
});
