// When the objects of a kind were rewritten, as a watch of the kind saw it.
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeList } from '../../../shared/kube/objects.ts';
import type { VersionedKind } from '../../builders/versioned-kind.ts';

export interface Span {
  /** On the clock of `performance`. */
  readonly firstMs: number;
  readonly seconds: number;
}

export class Writes {
  readonly #end = new AbortController();
  readonly #missing: Set<string>;
  readonly #done = Promise.withResolvers<Span>();
  #firstMs: number | undefined;

  private constructor({ items }: KubeList) {
    this.#missing = new Set(items.map(({ metadata }) => metadata.name));
    // Told to whoever asks for all of them; nobody may.
    this.#done.promise.catch(() => undefined);
  }

  /** From now on. */
  static async of(kube: KubeClient, kind: VersionedKind): Promise<Writes> {
    const list = await kube.list(kind.ref());
    const writes = new Writes(list);
    const { resourceVersion } = list.metadata;
    const { signal } = writes.#end;
    const events = kube.watch(kind.ref(), { from: { resourceVersion }, signal });
    writes.#follow(events).catch(writes.#done.reject);
    return writes;
  }

  /** Resolves when each object was written at least once. */
  all(): Promise<Span> {
    return this.#done.promise;
  }

  /** Nobody looks any more. */
  close(): void {
    this.#end.abort();
  }

  async #follow(events: ReturnType<KubeClient['watch']>): Promise<void> {
    for await (const event of events) {
      if (event.type !== 'MODIFIED') continue;
      const nowMs = performance.now();
      this.#firstMs ??= nowMs;
      this.#missing.delete(event.object.metadata.name);
      if (this.#missing.size > 0) continue;
      const firstMs = this.#firstMs;
      this.#done.resolve({ firstMs, seconds: (nowMs - firstMs) / 1_000 });
      return;
    }
  }
}
