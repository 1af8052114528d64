// A number of readers, or of their peers, behind one handle, in as many processes as are wanted.
import type { Seen } from './arrivals.ts';
import type { Pids } from './accounts.ts';
import { Child } from './child.ts';
import type { ReaderQuestion } from './readers.ts';
import type { FeedSystem } from './system.ts';
import type { WatcherQuestion } from './watchers.ts';

export interface CrewOptions {
  /** Each is one core's work at most. */
  readonly processes?: number;
  /** Whether to tell when each change was seen, and not only how many were. */
  readonly isTimed?: boolean;
}

type Question = ReaderQuestion | WatcherQuestion;

export class Crew {
  readonly #children: readonly Child<Question, unknown>[];

  private constructor(children: readonly Child<Question, unknown>[]) {
    this.#children = children;
  }

  /** Reads the feed. */
  static readers(system: FeedSystem, options: CrewOptions = {}): Promise<Crew> {
    return Crew.#start('readers.ts', system.readerUrl, options);
  }

  /** Watches the API server. */
  static watchers(system: FeedSystem, options: CrewOptions = {}): Promise<Crew> {
    return Crew.#start('watchers.ts', system.plane.kubeconfigPath, options);
  }

  static async #start(script: string, address: string, options: CrewOptions): Promise<Crew> {
    const { processes = 1, isTimed = false } = options;
    const args = [address, isTimed ? 'timed' : 'counted'];
    const children = Array.from({ length: processes }, () => Child.start(script, ...args));
    return new Crew(await Promise.all(children));
  }

  get pids(): Pids {
    return Object.fromEntries(this.#children.map(({ pid }, index) => [`crew ${index}`, pid]));
  }

  /** One for each name: a node's, or `*` for everything. Ends when all of them are current. */
  async open(names: readonly string[]): Promise<void> {
    const count = this.#children.length;
    await this.#each((child, index) =>
      child.ask({ open: names.filter((_, at) => at % count === index) }),
    );
  }

  async take(): Promise<Seen> {
    const parts = (await this.#each((child) => child.ask({ take: true }))) as readonly Seen[];
    return {
      changes: parts.reduce((sum, { changes }) => sum + changes, 0),
      times: Float64Array.from(parts.flatMap(({ times }) => [...times])),
    };
  }

  /** Closes them all, and the processes are ready for more. */
  async close(): Promise<void> {
    await this.#each((child) => child.ask({ close: true }));
  }

  async end(): Promise<void> {
    await this.#each((child) => child.end());
  }

  #each<Result>(
    work: (child: Child<Question, unknown>, index: number) => Promise<Result>,
  ): Promise<readonly Result[]> {
    return Promise.all(this.#children.map(work));
  }
}
