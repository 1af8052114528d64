// How a test file gets to the plane of its lane.
import { inject } from 'vitest';
import {
  findPart,
  type PartAddress,
  type PlaneAddress,
} from '../../knative/try/local/plane/address.ts';

interface ProvidedPlane extends Omit<PlaneAddress, 'part'> {
  readonly parts: readonly PartAddress[];
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Only in a lane. */
    readonly plane?: ProvidedPlane;
    /** Only in a lane whose API server keeps one. */
    readonly auditLog?: string;
  }
}

export function sharedPlane(): PlaneAddress {
  const provided = inject('plane');
  if (provided === undefined) {
    throw new Error('this file is in no lane, so nobody started a plane: add it to test/lanes.ts');
  }
  const { parts, ...where } = provided;
  return { ...where, part: (name) => findPart(parts, name) };
}
