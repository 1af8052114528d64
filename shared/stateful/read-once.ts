// Reads of one look: what several parts of it need is read once, so that all of them decide on the
// same state of it. The next look begins anew, and sees what was edited since.
import { serialize } from 'node:v8';
import type { KubeObject, ObjectName, ResourceRef } from '../kube/objects.ts';

export interface KubeReader {
  /** Whole objects alone: who holds metadata would hand it to the next as all there is. */
  get(
    ref: ResourceRef,
    target: ObjectName,
    options: { readonly signal: AbortSignal; readonly metadataOnly?: never },
  ): Promise<KubeObject | null>;
}

/** A usual part has a few kilobytes. Tenants write them, and larger ones are not held. */
const HELD_BYTES_MAX = 32 * 2 ** 10;

/** For a look that reads one object after the other. */
export function readOnce(kube: KubeReader): KubeReader {
  const held = new Map<string, KubeObject | null>();
  return {
    async get(ref, target, options) {
      const key = keyOf(ref, target);
      const known = held.get(key);
      if (known !== undefined) return known;
      const object = await kube.get(ref, target, options);
      if (object === null || serialize(object).byteLength <= HELD_BYTES_MAX) held.set(key, object);
      return object;
    },
  };
}

const keyOf = ({ group, resource }: ResourceRef, { namespace = '', name }: ObjectName): string =>
  `${group}/${resource}/${namespace}/${name}`;
