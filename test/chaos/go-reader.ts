// The reader in Go of docs/example-go as its authors would run it: a process that prints what
// changes, and all that it holds when it is asked. It can be killed, and begins from nothing then.
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

export interface GoState {
  readonly phase: string;
  readonly why?: string;
  readonly version: number;
  readonly verified: number;
  readonly isStale: boolean;
  readonly snapshots: number;
  readonly resumes: number;
  readonly gaps: number;
  readonly mismatches: number;
}

interface Row {
  readonly subject: string;
  readonly version: number;
  readonly object: ObjectMessage;
}

export interface Held {
  readonly state: GoState;
  readonly held: readonly Row[];
}

type Line =
  | ({ readonly type: 'added' | 'changed' | 'removed' } & Row)
  | { readonly type: 'state'; readonly state: GoState }
  | ({ readonly type: 'held'; readonly to: string } & Held);

export interface GoReaderOptions extends ReaderOptions {
  readonly scope: GoScope;
  /** Other than that of readers' accounts. */
  readonly api?: string;
}

export class GoReader {
  readonly name: string;
  readonly observer: Observer;
  /** All that it printed since it was opened, but answers. */
  lines: Exclude<Line, { readonly type: 'held' }>[] = [];
  readonly #options: GoReaderOptions;
  #child: ChildProcess | undefined;
  #reading: Promise<void> = Promise.resolve();
  #asked = 0;
  readonly #answers = new Map<string, PromiseWithResolvers<Held>>();

  constructor(options: GoReaderOptions) {
    this.#options = options;
    this.name = `${readerName(options.scope)} in Go`;
    this.observer = new Observer(this.name, options.isSlandered);
  }

  async open(): Promise<void> {
    const { url, feed, scope, api } = this.#options;
    const node = scope === 'cluster' ? [] : [`-node=${scope.node}`];
    const args = [`-feed=${feed}`, ...node, ...(api === undefined ? [] : [`-api=${api}`])];
    const child = spawn(await resolvePart('feed-reader'), args, {
      // Not as an argument: everybody on a machine sees those.
      env: { ...process.env, NATS_URL: url },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(child, 'spawn');
    this.lines = [];
    this.#child = child;
    this.#reading = this.#read(child);
  }

  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    await this.#reading;
  }

  async held(): Promise<Held> {
    const child = this.#child;
    if (child === undefined) throw new Error(`the reader ${this.name} is not open`);
    this.#asked += 1;
    const answer = Promise.withResolvers<Held>();
    this.#answers.set(String(this.#asked), answer);
    child.stdin?.write(`${this.#asked}\n`);
    return answer.promise;
  }

  async differences(expected: View): Promise<readonly string[]> {
    const { state, held } = await this.held();
    const own = viewOf(expected, this.#options.scope);
    const has = new Map(held.map(({ subject, object }) => [subject, comparable(object)]));
    const found = differences(own, has).map((line) => `${this.name}: ${line}`);
    const isWell = state.phase === 'current' && !state.isStale;
    return isWell ? found : [`${this.name} is ${JSON.stringify(state)}`, ...found];
  }

  async #read({ stdout }: ChildProcess): Promise<void> {
    if (stdout === null) return;
    try {
      for await (const text of createInterface({ input: stdout })) this.#take(lineOf(text));
    } finally {
      const ended = new Error(`the reader ${this.name} has ended`);
      for (const answer of this.#answers.values()) answer.reject(ended);
      this.#answers.clear();
    }
  }

  #take(line: Line): void {
    if (line.type === 'held') {
      this.#answers.get(line.to)?.resolve(line);
      this.#answers.delete(line.to);
      return;
    }
    this.lines.push(line);
    if (line.type === 'added' || line.type === 'changed') this.observer.saw(line);
  }
}

/** It is our own program. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const lineOf = (text: string): Line => JSON.parse(text) as Line;
