// All objects of one kind as a watch tells of them: what is there can be asked at any time and
// costs nobody a list.
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import type { Selection } from '../../../shared/kube/reads.ts';
import type { Change } from '../../../shared/kube/watch.ts';

/** By `namespace/name`. */
export const keyOf = ({ namespace = '', name }: KubeObject['metadata']): string =>
  `${namespace}/${name}`;

export class Followed {
  #objects = new Map<string, KubeObject>();
  readonly #onChange: () => void;

  /** `onChange` is called after every change. */
  constructor(onChange: () => void = () => undefined) {
    this.#onChange = onChange;
  }

  all(): readonly KubeObject[] {
    return [...this.#objects.values()];
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  /** Until the signal aborts, with whose reason it fails then. */
  async follow(
    kube: KubeClient,
    ref: ResourceRef,
    signal: AbortSignal,
    which: Selection = {},
  ): Promise<void> {
    // While all of it comes again, what came before is still believed.
    let coming: Map<string, KubeObject> | undefined;
    for await (const event of kube.watch(ref, { ...which, from: 'initial-events', signal })) {
      if (event.type === 'RESTART') coming = new Map();
      else if (event.type !== 'BOOKMARK') this.#take(event, coming ?? this.#objects);
      else if (event.isInitialEventsEnd && coming !== undefined) {
        this.#objects = coming;
        coming = undefined;
      }
      this.#onChange();
    }
  }

  #take({ type, object }: Change, objects: Map<string, KubeObject>): void {
    const key = keyOf(object.metadata);
    if (type === 'DELETED') objects.delete(key);
    else objects.set(key, object);
  }
}
