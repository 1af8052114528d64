// One reader of the feed as an agent has it: a replica that can be killed, comes back from its
// bookmark or from nothing, and is watched by an observer through all of it.
import type { Bookmark } from '../../shared/nats/replica/bookmark.ts';
import { type Replica, openReplica } from '../../shared/nats/replica/replica.ts';
import type { Scope } from '../../shared/nats/replica/scope.ts';
import { type View, comparable, differences, viewOf } from './compare.ts';
import { Observer } from './observer.ts';

export interface ReaderOptions {
  readonly url: string;
  readonly feed: string;
  readonly scope: Scope;
  readonly isSlandered: (name: string) => boolean;
}

/** Also of its user. */
export function readerName(scope: Scope): string {
  if (scope === 'cluster') return scope;
  return 'node' in scope ? scope.node : scope.namespaces.join();
}

export class Reader {
  readonly name: string;
  readonly observer: Observer;
  readonly #options: ReaderOptions;
  #replica: Replica | undefined;
  #following: Promise<void> = Promise.resolve();
  #bookmark: Bookmark | undefined;

  constructor(options: ReaderOptions) {
    this.#options = options;
    const { scope, isSlandered } = options;
    this.name = readerName(scope);
    this.observer = new Observer(this.name, isSlandered);
  }

  get replica(): Replica {
    if (this.#replica === undefined) throw new Error(`the reader ${this.name} is not open`);
    return this.#replica;
  }

  open(from: 'bookmark' | 'nothing' = 'nothing'): void {
    const { url, feed, scope } = this.#options;
    const resumeFrom = from === 'bookmark' ? this.#bookmark : undefined;
    const replica = openReplica({ url, feed, scope, name: `chaos-${this.name}`, resumeFrom });
    this.#replica = replica;
    this.#following = this.#follow(replica);
  }

  /** Keeps its bookmark on disk. */
  async close(): Promise<void> {
    this.#bookmark = this.#replica?.bookmark() ?? this.#bookmark;
    await this.#replica?.close();
    await this.#following;
    this.#replica = undefined;
  }

  /**
   * Objects that it holds and should not, or lacks; and whether it says itself that all is well.
   */
  differences(expected: View): readonly string[] {
    const held = new Map(
      [...this.replica.catalog.entries()].map(({ subject, object }) => [
        subject,
        comparable(object),
      ]),
    );
    const own = viewOf(expected, this.#options.scope);
    const { phase, why = '' } = this.replica.state;
    const found = differences(own, held).map((line) => `${this.name}: ${line}`);
    return phase === 'current' ? found : [`${this.name} is ${phase}: ${why}`, ...found];
  }

  async #follow(replica: Replica): Promise<void> {
    for await (const change of replica.changes()) this.observer.note(change);
  }
}
