// From the first word on the screen to the last process: finds the parts, brings the cluster up,
// shows it until somebody ends it, and takes everything down again. `npm start` and `npm run dev`
// are both this.
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { functionNames } from '../../../tools/build/function-names.ts';
import { bundleCommand, sourceCommand } from '../cluster/function-part.ts';
import { type LocalCluster, startCluster } from '../cluster/local-cluster.ts';
import { startPartNames } from '../parts/catalog.ts';
import { resolveParts } from '../parts/resolve.ts';
import type { Part, PartChange } from '../process/part.ts';
import { killOwnPlanes } from '../process/run-directory.ts';
import type { SessionOptions } from './options.ts';
import { advice } from './advice.ts';
import { Bell } from './bell.ts';
import { Complaints } from './complaints.ts';
import { DiskWatch } from './disk-watch.ts';
import { FeedWatch } from './feed-watch.ts';
import { Observer } from './observer.ts';
import { PlainView } from './plain-view.ts';
import { Tail } from './tail.ts';
import { TerminalView } from './terminal-view.ts';
import type { LiveView } from './view.ts';

/** A death is shown at once; this is how fresh the numbers are. */
const LOOK_EVERY_MS = 1_000;
const ROOT = resolve(import.meta.dirname, '../../../..');

/** Resolves with the exit code. */
export async function runSession(options: SessionOptions): Promise<number> {
  const view = openView(options);
  const end = endOnSignal(view);
  try {
    await resolveParts(startPartNames, { signal: end });
    await buildBundles(options, end);
    if (!end.aborted) await new Session(options, view, end).run();
    return 0;
  } catch (error) {
    if (end.aborted) return 0;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    view.close();
    if (end.aborted) view.print('Nothing is left running.');
  }
}

class Session {
  readonly #options: SessionOptions;
  readonly #view: LiveView;
  readonly #end: AbortSignal;
  readonly #observer = new Observer();
  readonly #complaints: Complaints;
  readonly #parts = new Map<string, Part>();
  readonly #startedMs = Date.now();
  readonly #tail = new Tail();
  readonly #bell: Bell;
  #feeds: FeedWatch | undefined;
  readonly #disk: DiskWatch;

  constructor(options: SessionOptions, view: LiveView, end: AbortSignal) {
    this.#options = options;
    this.#view = view;
    this.#end = end;
    this.#bell = new Bell(end);
    const dirs = [tmpdir(), ...(options.dataDir === undefined ? [] : [ROOT])];
    this.#disk = new DiskWatch(dirs, (text) => view.print(text));
    this.#complaints = new Complaints((text) => view.print(text));
  }

  async run(): Promise<void> {
    const over = new AbortController();
    const showing = this.#showUntil(AbortSignal.any([this.#end, over.signal]));
    try {
      const cluster = await this.#start();
      await this.#untilEnd(cluster);
    } finally {
      over.abort();
      this.#bell.ring();
      await showing;
    }
  }

  async #start(): Promise<LocalCluster> {
    const { dataDir, apiPort, natsPort, nodes, pods, churnPerSecond, step } = this.#options;
    const { devFunction } = this.#options;
    return startCluster({
      plane: {
        parts: ['etcd', 'kube-apiserver', 'nats-server', 'kwok'],
        restart: 'backoff',
        // It is idle most of the time here: memory is what a laptop is short of.
        goGcPercent: 40,
        ...(dataDir === undefined ? {} : { dataDir }),
        ports: {
          ...(apiPort === undefined ? {} : { 'kube-apiserver': apiPort }),
          ...(natsPort === undefined ? {} : { 'nats-server': natsPort }),
        },
        onChange: (change) => this.#onChange(change),
      },
      signal: this.#end,
      population: { nodes, pods, churnPerSecond },
      step,
      commandOf: (name) =>
        name === devFunction ? sourceCommand(ROOT, name) : bundleCommand(join(ROOT, 'dist', name)),
      onError: (error) => {
        if (!this.#end.aborted) this.#complaints.add(error);
      },
    });
  }

  async #untilEnd(cluster: LocalCluster): Promise<void> {
    try {
      const seconds = ((Date.now() - this.#startedMs) / 1000).toFixed(1);
      this.#feeds = new FeedWatch(cluster.plane, cluster.kube);
      this.#view.print(
        `Everything is ready after ${seconds} s.\n\n${await advice(cluster.plane)}\n`,
      );
      if (!this.#end.aborted) {
        await new Promise((wake) => this.#end.addEventListener('abort', wake, { once: true }));
      }
    } finally {
      await this.#feeds?.close();
      this.#feeds = undefined;
      await cluster.stop();
    }
  }

  #onChange(change: PartChange): void {
    this.#parts.set(change.part.name, change.part);
    this.#observer.partChanged(change);
    // On the way down every part stops, and some complain that another did.
    if (!this.#end.aborted) this.#view.partChanged(change);
    this.#bell.ring();
  }

  /** The developer of a function wants to read its log; parts that run as shipped stay silent. */
  #sayWhatTheFunctionPrints(): void {
    const part = this.#parts.get(`function/${this.#options.devFunction ?? ''}`);
    const lines = part === undefined ? [] : this.#tail.linesOf(part);
    if (lines.length > 0) this.#view.print(lines.join('\n'));
  }

  async #showUntil(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const [seen, feeds] = await Promise.all([
        this.#observer.observe([...this.#parts.values()]),
        this.#feeds?.observe() ?? [],
      ]);
      const snapshot = { ...seen, feeds };
      if (!over.aborted) this.#view.show(snapshot);
      this.#sayWhatTheFunctionPrints();
      await this.#disk.check();
      await this.#bell.orAfter(LOOK_EVERY_MS);
    }
  }
}

/**
 * A bundle may be older than its sources; a new one is there in the time that finding out would
 * take.
 */
async function buildBundles({ devFunction }: SessionOptions, end: AbortSignal): Promise<void> {
  const names = (await functionNames()).filter((name) => name !== devFunction);
  if (names.length === 0) return;
  // In a process of its own, which takes the bundler's memory with it when it ends.
  const args = [join(ROOT, 'knative/tools/build/main.ts'), ...names];
  await promisify(execFile)(process.execPath, args, { signal: end });
}

function openView({ isPlain }: SessionOptions): LiveView {
  const { stdout } = process;
  if (stdout.isTTY && !isPlain) return new TerminalView(stdout);
  return new PlainView((text) => stdout.write(text));
}

/**
 * Aborts on Ctrl-C, a polite kill, a closed terminal, or when no reader is left. A second signal
 * means that nobody wants to wait: then everything is killed.
 */
function endOnSignal(view: LiveView): AbortSignal {
  const abort = new AbortController();
  const onEnd = (): void => {
    if (abort.signal.aborted) return void killOwnPlanes();
    abort.abort();
    // Text from here on stands below the last picture.
    view.close();
    view.print('Ending.');
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onEnd);
  process.stdout.on('error', () => abort.abort());
  return abort.signal;
}
