// P6: publishing that is on the disk before it is acknowledged. Ours, many at a time as a sweep
// does it, against one publish after the other on the same server, and against publishes in flight
// side by side on a server that syncs only now and then (its default).
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, headers } from 'nats';
import { loginOf } from '../builders/nats-login.ts';
import { resolvePart } from '../../knative/try/local/parts/resolve.ts';
import { natsServerSpec } from '../../knative/try/local/plane/nats-server.ts';
import { type Plane, startPlane } from '../../knative/try/local/plane/plane.ts';
import { freePort } from '../../knative/try/local/process/ports.ts';
import { Stream } from '../../shared/nats/stream.ts';
import type { Bench, Sample, Side } from './runner.ts';

const ours = 'ours, synced';
const naive = 'one by one, synced';
const lazy = 'pipelined, not synced';
const unit = 'messages/s';
const higher = { unit, ours, better: 'higher', sample: 'rate' } as const;

/** As large as the message about an ordinary pod. */
const MESSAGE = new Uint8Array(400).fill(120);
const IN_FLIGHT = 200;
const MESSAGES = { [ours]: 20_000, [naive]: 1_000, [lazy]: 10_000 } as const;

export const bench: Bench = {
  id: 'P6',
  title: 'Publishing by compare-and-set, on the disk before it is acknowledged',
  pairs: 5,
  figures: [
    { name: 'rate', against: naive, limit: 5, ...higher },
    { name: 'rate against no sync', against: lazy, limit: 0.6, ...higher },
  ],
  open: async () => {
    const plane = await startPlane({ parts: ['nats-server'] });
    const synced = await startSynced(plane);
    const side = (name: keyof typeof MESSAGES, run: () => Promise<unknown>): Side => ({
      name,
      run: () => timed(MESSAGES[name], run),
    });
    return {
      sides: [
        side(ours, () => publishOurs(synced)),
        side(naive, () => publishPlain(synced, MESSAGES[naive], 1)),
        side(lazy, () => publishPlain(plane.part('nats-server').url, MESSAGES[lazy], IN_FLIGHT)),
      ],
      close: () => plane.stop(),
    };
  },
};

/** As the documentation of NATS says for those who cannot lose what was acknowledged. */
async function startSynced(plane: Plane): Promise<string> {
  const [binary, port, monitorPort] = await Promise.all([
    resolvePart('nats-server'),
    freePort(),
    freePort(),
  ]);
  const spec = natsServerSpec({ binary, dir: join(plane.dir, 'synced'), port, monitorPort });
  const config = join(plane.dir, 'synced.conf');
  const store = join(plane.dir, 'synced', 'nats');
  await writeFile(config, `jetstream { store_dir: "${store}", sync_interval: always }\n`);
  const args = [
    '--addr=127.0.0.1',
    `--port=${port}`,
    `--http_port=${monitorPort}`,
    `--config=${config}`,
  ];
  return (await plane.add({ ...spec, name: 'nats-synced', args })).url;
}

async function timed(messages: number, run: () => Promise<unknown>): Promise<Sample> {
  const startedMs = performance.now();
  await run();
  return { rate: messages / ((performance.now() - startedMs) / 1_000) };
}

async function publishOurs(url: string): Promise<void> {
  const name = `p6-${randomUUID()}`;
  const settings = { name, prefix: name, livePrefix: `live-${name}`, replicas: 1 } as const;
  const stream = new Stream({ url, name: 'p6' }, { ...settings, storage: 'file' });
  const signal = AbortSignal.timeout(60_000);
  await inFlight(MESSAGES[ours], IN_FLIGHT, async (index) => {
    const message = { subject: `${name}.${index}`, data: MESSAGE, expectedSequence: 0 };
    await stream.publish([message], signal);
  });
  await stream.close();
}

async function publishPlain(url: string, messages: number, width: number): Promise<void> {
  const nats = await connect(loginOf(url));
  const name = `p6-${randomUUID()}`;
  const config = { name, subjects: [`${name}.>`], storage: 'file', max_msgs_per_subject: 1 };
  await nats.request(`$JS.API.STREAM.CREATE.${name}`, JSON.stringify(config));
  await inFlight(messages, width, async (index) => {
    const header = headers();
    header.set('Nats-Expected-Last-Subject-Sequence', '0');
    const reply = await nats.request(`${name}.${index}`, MESSAGE, {
      headers: header,
      timeout: 10_000,
    });
    const answer = reply.json<{ readonly error?: unknown }>();
    if (answer.error !== undefined) throw new Error(JSON.stringify(answer.error));
  });
  await nats.close();
}

async function inFlight(
  count: number,
  width: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  const queue = Array.from({ length: count }, (_, index) => index).values();
  const worker = async (): Promise<void> => {
    for (const index of queue) await work(index);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
