// A part of the file's own beside the plane of its lane: it ends with the file.
import { afterAll } from 'vitest';
import type { PlaneAddress } from '../../knative/try/local/plane/address.ts';
import { PartProcess, type Part, type PartSpec } from '../../knative/try/local/process/part.ts';
import { markOf } from '../../knative/try/local/process/run-directory.ts';

const parts: Part[] = [];

afterAll(async () => {
  // The last one first: it may depend on those before it.
  for (const part of parts.toReversed()) await part.stop();
});

export async function startOwnPart({ dir }: PlaneAddress, spec: PartSpec): Promise<Part> {
  const part = new PartProcess(spec, markOf(dir), () => undefined);
  parts.push(part);
  await part.start();
  return part;
}
