// The rung that makes sure of every real part before a test needs it: each is found or built.
// Its exit code tells apart a build that failed from a machine that cannot have the parts.

import { moduleConfig } from '../../knative/cluster/knative/module-config.ts';
import { planePartNames } from '../../knative/local/parts/catalog.ts';
import { PartsUnavailable } from '../../knative/local/parts/explain.ts';
import { resolveParts } from '../../knative/local/parts/resolve.ts';
import { partsSettings } from '../../knative/local/parts/settings.ts';
import { cannotBeHadCode } from './rungs.ts';

/** Of Knative: what the manifests are tried against. */
const judges = ['kn', 'eventing-webhook', 'serving-webhook'] as const;

async function main(): Promise<number> {
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  try {
    const wanted = [...planePartNames, ...judges];
    const parts = await resolveParts(wanted, { signal: stop.signal });
    // What Knative's modules say of its kinds, kept beside the parts.
    await moduleConfig(partsSettings(), stop.signal);
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
