// A client of the real API server that counts what it is asked about single objects, and that can
// answer what it is asked to have at hand as it was at an earlier moment: as a second API server
// does that is behind the first one.
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeList, ResourceRef } from '../../../shared/kube/objects.ts';
import type { PagesOptions } from '../../../shared/kube/reads.ts';

export class CountingKube {
  readonly kube: KubeClient;
  readonly counts = { atHand: 0, latest: 0 };
  /** At the same time, at most. */
  readonly most = { atHand: 0, latest: 0, both: 0 };
  readonly #now = { atHand: 0, latest: 0 };
  readonly #real: KubeClient;
  /** Answers from the cache, whatever the question. */
  frozen: KubeList | undefined;
  /** It is behind for so many questions. */
  frozenFor = Infinity;
  /** Asked about in the place of every other kind. */
  insteadOf: ResourceRef | undefined;

  constructor(real: KubeClient) {
    this.#real = real;
    this.kube = new Proxy(real, {
      get: (target, name) => {
        if (name === 'pages') return this.#pages.bind(this);
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }

  /** From now on there is at hand what there is now. */
  async freeze(ref: ResourceRef, namespace: string, name: string): Promise<void> {
    const fieldSelector = `metadata.name=${name}`;
    this.frozen = await this.#real.list(ref, { namespace, fieldSelector });
  }

  async *#pages(ref: ResourceRef, options: PagesOptions): AsyncGenerator<KubeList> {
    const kind = options.freshness === 'any' ? 'atHand' : 'latest';
    this.counts[kind] += 1;
    this.#now[kind] += 1;
    const { atHand, latest } = this.#now;
    this.most[kind] = Math.max(this.most[kind], this.#now[kind]);
    this.most.both = Math.max(this.most.both, atHand + latest);
    try {
      const isBehind = kind === 'atHand' && this.counts.atHand <= this.frozenFor;
      if (isBehind && this.frozen !== undefined) yield this.frozen;
      else yield* this.#real.pages(this.insteadOf ?? ref, options);
    } finally {
      this.#now[kind] -= 1;
    }
  }
}
