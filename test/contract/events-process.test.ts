// A function as a process: what it says at boot, how it ends on signals, and that requests in
// flight come to their end.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, request } from 'node:http';
import { resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { eventHeaders, postEvent } from './started.ts';

const root = resolve(import.meta.dirname, '../..');
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

interface Running {
  readonly child: ChildProcess;
  readonly lines: readonly Record<string, unknown>[];
  /** Resolves with the first line that has this message. */
  said(message: string): Promise<Record<string, unknown>>;
  ended(): Promise<readonly unknown[]>;
}

function run(environment: Readonly<Record<string, string>>): Running {
  const script = resolve(root, 'shared/function/run.ts');
  const child = spawn(process.execPath, [script, 'test/fixtures/events/waiting'], {
    cwd: root,
    env: { DRAIN_MINIMUM_SECONDS: '0', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const ending = once(child, 'close');
  const lines: Record<string, unknown>[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = `${rest}${text}`.split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts.map((line) => JSON.parse(line) as Record<string, unknown>));
    child.emit('lines');
  });
  const said = async (message: string): Promise<Record<string, unknown>> => {
    for (;;) {
      const found = lines.find((line) => line['message'] === message);
      if (found !== undefined) return found;
      await once(child, 'lines');
    }
  };
  return { child, lines, said, ended: () => ending };
}

async function listening(running: Running): Promise<string> {
  return `http://127.0.0.1:${String((await running.said('listening'))['port'])}`;
}

/** Sends an event on a connection of its own; resolves with its status, or why there is none. */
function outcome(port: number): Promise<string> {
  const options = { port, method: 'POST', agent: false, headers: { ...eventHeaders } };
  return new Promise((done) => {
    const sent = request(options, (answer) => {
      answer.resume().once('end', () => done(String(answer.statusCode)));
    });
    sent.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    sent.end('{}');
  });
}

/** Readiness over the agent's connection: status, and what becomes of the connection. */
function probe(port: number, agent: Agent): Promise<unknown[]> {
  return new Promise((done, reject) => {
    get({ port, path: '/health/readiness', agent }, (answer) => {
      answer.resume().once('end', () => {
        // The agent has the connection back only when both of its sides know of the end.
        setImmediate(() => done([answer.statusCode, answer.headers.connection]));
      });
    }).once('error', reject);
  });
}

describe('the boot', () => {
  it('refuses bad settings by name, all in one line, and ends with 2', async () => {
    const running = run({ PORT: '99999', LOG_LEVEL: 'loud' });
    expect(await running.ended()).toEqual([2, null]);
    expect(running.lines).toEqual([
      expect.objectContaining({
        level: 'fatal',
        problems: [
          expect.stringContaining("PORT ('99999')"),
          expect.stringContaining("LOG_LEVEL ('loud')"),
          expect.stringContaining('WAITING_TOKEN is not set'),
        ],
      }),
    ]);
  });

  it('says the settings in force once, without secrets', async () => {
    const running = run({ PORT: '0', WAITING_TOKEN: 'hunter2' });
    await listening(running);
    expect(running.lines[0]).toMatchObject({
      message: 'listening',
      config: { port: 0, deadlineMs: 30_000, token: '(secret, set)' },
    });
    expect(JSON.stringify(running.lines)).not.toContain('hunter2');
  });

  it('ends with 1 and says why when its port is taken', async () => {
    const first = run({ PORT: '0', WAITING_TOKEN: 'x' });
    const { port } = new URL(await listening(first));
    const second = run({ PORT: port, WAITING_TOKEN: 'x' });
    expect(await second.ended()).toEqual([1, null]);
    expect(JSON.stringify(second.lines)).toContain('EADDRINUSE');
  });
});

describe('SIGTERM', () => {
  it('is heard on warm connections and by probes, though nothing is in flight', async () => {
    const running = run({ PORT: '0', WAITING_TOKEN: 'x', DRAIN_MINIMUM_SECONDS: '2' });
    const { port } = new URL(await listening(running));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await probe(Number(port), agent)).toEqual([200, 'keep-alive']);
    running.child.kill('SIGTERM');
    await running.said('draining');
    expect(await probe(Number(port), agent)).toEqual([503, 'close']);
    const refused = await postEvent(`http://127.0.0.1:${port}`);
    expect([refused.status, refused.headers.get('connection')]).toEqual([503, 'close']);
    expect(await running.ended()).toEqual([0, null]);
  });

  it('resets nobody while senders hammer: each has an answer, until nobody listens', async () => {
    const environment = { DRAIN_MINIMUM_SECONDS: '0.3', DRAIN_GRACE_SECONDS: '1.5' };
    const running = run({ PORT: '0', WAITING_TOKEN: 'x', ...environment });
    const port = Number(new URL(await listening(running)).port);
    const told = new Map<string, number>();
    const hammer = async (): Promise<void> => {
      for (let heard = ''; heard !== 'ECONNREFUSED';) {
        heard = await outcome(port);
        told.set(heard, (told.get(heard) ?? 0) + 1);
      }
    };
    const senders = Array.from({ length: 50 }, hammer);
    running.child.kill('SIGTERM');
    await Promise.all(senders);
    expect([...told.keys()].toSorted()).toEqual(['503', 'ECONNREFUSED']);
    expect(told.get('503')).toBeGreaterThan(50);
    expect(await running.ended()).toEqual([0, null]);
  });

  it('ends an idle function with 0, its doors closed', async () => {
    const running = run({ PORT: '0', WAITING_TOKEN: 'x' });
    await listening(running);
    running.child.kill('SIGTERM');
    expect(await running.ended()).toEqual([0, null]);
    expect(running.lines.map(({ message }) => message)).toEqual([
      'listening',
      'draining',
      'doors closed',
      'ended',
    ]);
  });

  it('turns readiness down, refuses new events, and lets the one in flight finish', async () => {
    const running = run({ PORT: '0', WAITING_TOKEN: 'x' });
    const url = await listening(running);
    const inFlight = postEvent(url, { 'ce-id': 'first' });
    await running.said('waiting');
    running.child.kill('SIGTERM');
    await running.said('draining');
    const ready = await fetch(`${url}/health/readiness`);
    expect([ready.status, await ready.json()]).toEqual([503, { state: 'draining' }]);
    const refused = await postEvent(url, { 'ce-id': 'second' });
    expect([refused.status, refused.headers.get('connection')]).toEqual([503, 'close']);
    process.kill(running.child.pid ?? 0, 'SIGUSR2');
    expect((await inFlight).status).toBe(204);
    expect(await running.ended()).toEqual([0, null]);
  });

  it('gives up the event in flight when the grace is over, with 503', async () => {
    const running = run({ PORT: '0', WAITING_TOKEN: 'x', DRAIN_GRACE_SECONDS: '0.1' });
    const inFlight = postEvent(await listening(running));
    await running.said('waiting');
    running.child.kill('SIGTERM');
    expect((await inFlight).status).toBe(503);
    expect(await running.ended()).toEqual([0, null]);
  });

  it('ends at once when it is said twice', async () => {
    const running = run({ PORT: '0', WAITING_TOKEN: 'x' });
    const inFlight = postEvent(await listening(running));
    await running.said('waiting');
    running.child.kill('SIGTERM');
    await running.said('draining');
    running.child.kill('SIGTERM');
    await expect(inFlight).rejects.toThrow('fetch failed');
    expect(await running.ended()).toEqual([143, null]);
  });
});

it('listens where it is told to, and nowhere else', async () => {
  const url = await listening(run({ PORT: '0', WAITING_TOKEN: 'x', LISTEN_HOST: '127.0.0.1' }));
  expect((await fetch(`${url}/health/liveness`)).status).toBe(200);
  await expect(fetch(url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow('fetch failed');
});
