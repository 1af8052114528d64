// The rung that makes sure of every real part before a test needs it: each is found or built.
// Its exit code tells apart a build that failed from a machine that cannot have the parts.

import { planePartNames } from '../../knative/local/parts/catalog.ts';
import { PartsUnavailable } from '../../knative/local/parts/explain.ts';
import { resolveParts } from '../../knative/local/parts/resolve.ts';
import { cannotBeHadCode } from './rungs.ts';

async function main(): Promise<number> {
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  try {
    const parts = await resolveParts(planePartNames, { signal: stop.signal });
    for (const [name, { path, source }] of parts) {
      process.stdout.write(`${name.padEnd(26)} ${path} (${source})\n`);
    }
    return 0;
  } catch (error) {
    process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof PartsUnavailable ? cannotBeHadCode : 1;
  }
}

process.exitCode = await main();
