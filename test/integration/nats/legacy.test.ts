// A nats-server of the time of the NATS operator: it starts, says its version, and passes messages.
import { connect } from 'nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';

let plane: Plane;
let url: string;

beforeAll(async () => {
  plane = await startPlane({ parts: [] });
  const [port, monitor] = [await freePort(), await freePort()];
  url = `nats://127.0.0.1:${port}`;
  const varz = `http://127.0.0.1:${monitor}/varz`;
  await plane.add({
    name: 'nats-2-1',
    command: await resolvePart('nats-server-2-1'),
    args: ['--addr=127.0.0.1', `--port=${port}`, `--http_port=${monitor}`],
    env: {},
    url,
    ready: async (signal) => (await fetch(varz, { signal })).ok,
  });
});

afterAll(async () => {
  await plane?.stop();
});

test('it says its version, and passes a message', async () => {
  const client = await connect({ servers: url });
  try {
    expect(client.info?.version).toBe('2.1.9');
    const subscription = client.subscribe('news', { max: 1 });
    client.publish('news', 'one');
    const heard: string[] = [];
    for await (const message of subscription) heard.push(message.string());
    expect(heard).toEqual(['one']);
  } finally {
    await client.close();
  }
});
