// Handlers that are called on changes of an object. They are kept apart from the cached objects, so
// that no trouble of a watch can lose one.
import type { KubeLog } from '../log.ts';
import type { KubeObject } from '../objects.ts';
import { describeObject } from '../paths.ts';
import type { Target } from './target.ts';

/**
 * A change that a reader would see. `old` is undefined when nothing was known of the object before.
 * An object that was deleted and created again between two reads is one change, from one uid to
 * another.
 */
export interface Change extends Target {
  readonly old: KubeObject | null | undefined;
  readonly new: KubeObject | null;
}

/**
 * Called for each change in order, and not awaited: it only wakes a reconcile. An error that it
 * throws is logged, and disturbs no other handler.
 */
export type Handler = (change: Change) => void | Promise<void>;

export class Handlers {
  /** The lists are replaced, not changed: a handler may add or remove one while it is called. */
  readonly #byKey = new Map<string, readonly Handler[]>();
  readonly #log: KubeLog | undefined;

  constructor(log: KubeLog | undefined) {
    this.#log = log;
  }

  /** The same handler twice is one. */
  add(key: string, handler: Handler): void {
    this.#byKey.set(key, [...new Set(this.#byKey.get(key)).add(handler)]);
  }

  remove(key: string, handler: Handler): void {
    const left = (this.#byKey.get(key) ?? []).filter((one) => one !== handler);
    if (left.length === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, left);
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  tell(key: string, change: Change): void {
    for (const handler of this.#byKey.get(key) ?? []) void this.#call(handler, change);
  }

  async #call(handler: Handler, change: Change): Promise<void> {
    try {
      await handler(change);
    } catch (error) {
      const object = describeObject(change.ref, change);
      this.#log?.warn({ err: error, object }, 'A handler of a changed object failed');
    }
  }
}
