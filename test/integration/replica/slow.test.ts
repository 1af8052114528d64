// A reader that stands still while much happens: the server ends its connection, keeps nothing for
// it and delays nobody else; awake again, the reader catches up by itself.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { natsWithAccounts } from '../../../knative/try/local/plane/nats-server.ts';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import { PATIENCE, World, node1, pod, untilEqual } from './world.ts';

const ENTRY = join(import.meta.dirname, '../../../knative/try/local/watch.ts');
/** More than the kernel keeps for a connection nobody reads. */
const ROUNDS = 40;
const text = 'x'.repeat(900_000);

let plane: Plane;
let monitorPort: number;

beforeAll(async () => {
  plane = await startPlane({ parts: [] });
  const [binary, port, monitor] = await Promise.all([
    resolvePart('nats-server'),
    freePort(),
    freePort(),
  ]);
  monitorPort = monitor;
  const settings = { write_deadline: '500ms' };
  await plane.add(await natsWithAccounts({ binary, dir: plane.dir, port, monitorPort, settings }));
});

afterAll(async () => {
  await plane.stop();
});

async function slowConsumers(): Promise<unknown> {
  const answer = await fetch(`http://127.0.0.1:${monitorPort}/varz`);
  return ((await answer.json()) as { slow_consumers: unknown }).slow_consumers;
}

test('a reader that stood still too long catches up, and kept nobody', async () => {
  const server = plane.part('nats-server');
  const world = new World(server);
  const feed = await world.feed();
  const quick = world.reader(feed);
  await quick.whenCurrent();
  const args = ['--cluster', '--json', '--nats', world.url, '--feed', feed.feed];
  const slow = spawn(process.execPath, [ENTRY, ...args]);
  let out = '';
  slow.stdout.on('data', (data: Buffer) => (out += data.toString().replaceAll(text, '')));
  await expect.poll(() => out, PATIENCE).toContain('"current"');
  slow.kill('SIGSTOP');
  for (let round = 0; round < ROUNDS; round += 1) {
    await feed.put(node1, pod(`p${round % 4}`), { fields: { text, round } });
  }
  await feed.remove(node1, pod('p0'));
  await expect.poll(slowConsumers, PATIENCE).toBe(1);
  await untilEqual(quick, feed);
  expect(quick.counts.disconnects).toBe(0);
  slow.kill('SIGCONT');
  const last = await feed.put(node1, pod('last'));
  await expect.poll(() => out, PATIENCE).toContain(`"version":${last},"subject"`);
  for (const round of [37, 38, 39]) expect(out).toContain(`"round":${round}`);
  expect(out).toMatch(/"connecting".*away/);
  slow.kill('SIGKILL');
  await world.close();
});
