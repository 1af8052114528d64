// The metadata function as it ships: its bundle, in a process of its own, with a share of the heap
// that its manifest gives it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { bundleFunction } from '../../../knative/tools/build/build.ts';
import { sendEvent } from '../../builders/send-event.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

export interface Shipped {
  /** Answers the status; none when the process has ended. */
  readonly send: (type: string, data: unknown) => Promise<number | 'ended'>;
  /** The most memory that it ever had. */
  readonly peakBytes: () => Promise<number>;
  readonly log: readonly Readonly<Record<string, unknown>>[];
  readonly stop: () => Promise<void>;
}

export async function startShipped(
  environment: Readonly<Record<string, string>>,
  heapShare: number,
): Promise<Shipped> {
  const dir = await mkdtemp(join(tmpdir(), 'ballast-shipped-'));
  await bundleFunction('metadata', dir);
  const child = spawn(process.execPath, [join(dir, 'index.js')], {
    env: { PORT: '0', NODE_OPTIONS: await nodeOptions(heapShare), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  // V8 writes many lines when it ends.
  child.stderr.resume();
  const log: Record<string, unknown>[] = [];
  const port = await portOf(child, log);
  const gone = ended.then(() => 'ended' as const);
  return {
    log,
    send: (type, data) =>
      Promise.race([
        sendEvent(port, type, data).then(
          ({ status }) => status,
          () => gone,
        ),
        gone,
      ]),
    peakBytes: () => peakBytes(child),
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function nodeOptions(heapShare: number): Promise<string> {
  const path = join(ROOT, 'knative/functions/metadata/service.yaml');
  const options = /name: NODE_OPTIONS\n\s+value: (.+)/.exec(await readFile(path, 'utf8'))?.[1];
  const heap = /--max-old-space-size=(\d+)/.exec(options ?? '');
  if (options === undefined || heap === null) throw new Error(`${path} bounds no heap`);
  const megabytes = Math.floor(Number(heap[1]) * heapShare);
  return options.replace(heap[0], `--max-old-space-size=${megabytes}`);
}

async function portOf(child: ChildProcess, log: Record<string, unknown>[]): Promise<number> {
  const { stdout } = child;
  if (stdout === null) throw new Error('nothing is to be read of it');
  const lines = createInterface({ input: stdout });
  const listening = Promise.withResolvers<number>();
  lines.on('line', (text) => {
    const line = JSON.parse(text) as Record<string, unknown>;
    log.push(line);
    if (line['message'] === 'listening') listening.resolve(Number(line['port']));
  });
  lines.on('close', () => listening.reject(new Error('it ended before it listened')));
  return listening.promise;
}

async function peakBytes({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
