// Objects as a sweep has listed them, so that a look at one at rest needs no read of its own. Their
// status has to say Ready or Complete for the spec as it is; of all others only the names are kept.
import { serialize } from 'node:v8';
import { conditionsOf } from '../kube/conditions.ts';
import { isRecord } from '../kube/json.ts';
import type { KubeObject } from '../kube/objects.ts';

/** A usual object takes some eight kilobytes, most of it managedFields. */
const OBJECT_BYTES_MAX = 32 * 2 ** 10;
/**
 * Tenants write the objects, and what is held may take many times as much in the heap: those of a
 * larger fleet are read one by one.
 */
const HELD_BYTES_MAX = 2 * 2 ** 20;

export class Listed {
  readonly #held = new Map<string, KubeObject>();
  #bytes = 0;

  /** Keeps it for its look, when it is at rest and there is room. */
  offer(object: KubeObject): void {
    if (!isAtRest(object)) return;
    const bytes = serialize(object).byteLength;
    if (bytes > OBJECT_BYTES_MAX || this.#bytes + bytes > HELD_BYTES_MAX) return;
    this.#bytes += bytes;
    this.#held.set(object.metadata.uid, object);
  }

  /** Once: the next look is at the object as it is then. */
  take(uid: string): KubeObject | undefined {
    const object = this.#held.get(uid);
    this.#held.delete(uid);
    return object;
  }
}

/** Servers are Ready; what is done once is Complete, and stays so. */
const AT_REST: readonly string[] = ['Ready', 'Complete'];

function isAtRest(object: KubeObject): boolean {
  const { metadata, status } = object;
  const observed = isRecord(status) ? status['observedGeneration'] : undefined;
  const isSo = conditionsOf(object).some(
    ({ type, status: is }) => AT_REST.includes(type) && is === 'True',
  );
  return isSo && observed === metadata.generation;
}
