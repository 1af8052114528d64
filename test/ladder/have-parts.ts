// Finds or builds parts for a rung. Its exit code tells apart a build that failed from a machine
// that cannot have the parts.

import type { PartName } from '../../knative/try/local/parts/part-entry.ts';
import { PartsUnavailable } from '../../knative/try/local/parts/explain.ts';
import { resolveParts } from '../../knative/try/local/parts/resolve.ts';
import { cannotBeHadCode } from './rungs.ts';

/** Resolves with the exit code; `more` is whatever else has to be fetched. */
export async function haveParts(
  names: readonly PartName[],
  more: (signal: AbortSignal) => Promise<void> = async () => undefined,
): Promise<number> {
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  try {
    const parts = await resolveParts(names, { signal: stop.signal });
    await more(stop.signal);
    for (const [name, { path, source }] of parts) {
      process.stdout.write(`${name.padEnd(26)} ${path} (${source})\n`);
    }
    return 0;
  } catch (error) {
    process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof PartsUnavailable ? cannotBeHadCode : 1;
  }
}
