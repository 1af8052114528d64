// The reader in Go of docs/example-go as its authors would run it: a process that prints what
// changes and how it stands. It can be killed, and begins from nothing then.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { resolvePart } from '../../knative/try/local/parts/resolve.ts';
import type { ObjectMessage } from '../../shared/feed/messages.ts';
import type { Scope } from '../../shared/nats/replica/scope.ts';
import { type View, comparable, differences, viewOf } from './compare.ts';
import { Observer } from './observer.ts';
import { type ReaderOptions, readerName } from './reader.ts';

/** Those that it knows. */
export type GoScope = Exclude<Scope, { readonly namespaces: readonly string[] }>;

interface GoState {
  readonly phase: string;
  readonly why?: string;
  readonly isStale: boolean;
  readonly version: number;
  readonly verified: number;
  readonly snapshots: number;
}

interface Row {
  readonly subject: string;
  readonly version: number;
  readonly object: ObjectMessage;
}

type Line =
  | ({ readonly type: 'added' | 'changed' | 'removed' } & Row)
  | ({ readonly type: 'state' } & GoState);

export interface GoReaderOptions extends ReaderOptions {
  readonly scope: GoScope;
  /** Other than that of readers' accounts. */
  readonly api?: string;
}

const CONNECTING: GoState = {
  phase: 'connecting',
  isStale: false,
  version: 0,
  verified: 0,
  snapshots: 0,
};

export class GoReader {
  readonly name: string;
  readonly observer: Observer;
  /** The sum of what it printed: by subject, as an agent would hold it. */
  readonly held = new Map<string, Row>();
  /** Everything that it said of itself since it was opened. */
  states: GoState[] = [];
  readonly #options: GoReaderOptions;
  #child: ChildProcess | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(options: GoReaderOptions) {
    this.#options = options;
    this.name = `${readerName(options.scope)} in Go`;
    this.observer = new Observer(this.name, options.isSlandered);
  }

  get state(): GoState {
    return this.states.at(-1) ?? CONNECTING;
  }

  async open(): Promise<void> {
    const { url, feed, scope, api } = this.#options;
    const node = scope === 'cluster' ? [] : [`-node=${scope.node}`];
    const args = [`-feed=${feed}`, ...node, ...(api === undefined ? [] : [`-api=${api}`])];
    const child = spawn(await resolvePart('feed-reader'), args, {
      // Not as an argument: everybody on a machine sees those.
      env: { ...process.env, NATS_URL: url },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child, 'spawn');
    this.held.clear();
    this.states = [];
    this.#child = child;
    this.#reading = this.#read(child);
  }

  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    const exited = child.exitCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await exited;
    await this.#reading;
  }

  /** Objects that it holds wrongly or lacks; and whether it says itself that all is well. */
  differences(expected: View): readonly string[] {
    const own = viewOf(expected, this.#options.scope);
    const has = new Map(
      [...this.held].map(([subject, { object }]) => [subject, comparable(object)]),
    );
    const found = differences(own, has).map((line) => `${this.name}: ${line}`);
    const { phase, isStale, why = '' } = this.state;
    if (phase === 'current' && !isStale) return found;
    return [`${this.name} is ${isStale ? 'stale and ' : ''}${phase}: ${why}`, ...found];
  }

  async #read({ stdout }: ChildProcess): Promise<void> {
    if (stdout === null) return;
    for await (const text of createInterface({ input: stdout })) this.#take(lineOf(text));
  }

  #take(line: Line): void {
    if (line.type === 'state') {
      this.states.push(line);
      return;
    }
    if (line.type === 'removed') {
      this.held.delete(line.subject);
      return;
    }
    this.held.set(line.subject, line);
    this.observer.saw(line);
  }
}

/** It is our own program. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const lineOf = (text: string): Line => JSON.parse(text) as Line;
