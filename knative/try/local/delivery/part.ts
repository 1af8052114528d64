// The broker process as a part of a plane, and how others read what went through it.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { answers } from '../plane/probe.ts';
import type { PartSpec } from '../process/part.ts';
import type { DeliveryConfig } from './config.ts';
import type { DeliveryStats } from './stats.ts';

/** Packages written for require() look for it in the module they were bundled into. */
const REQUIRE =
  "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);";
const BUNDLER = fileURLToPath(new URL('../../../../node_modules/.bin/esbuild', import.meta.url));
const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

/** Writes the config and the program into `dir`, which is the plane's. */
export async function brokerPart(dir: string, config: DeliveryConfig): Promise<PartSpec> {
  const path = join(dir, 'delivery.json');
  await writeFile(path, JSON.stringify(config));
  const program = join(dir, 'broker.mjs');
  // Run from its sources it would keep 20 MB of node's TypeScript compiler for good. The bundler
  // takes 50 ms; its command leaves nothing in this process, as its library would.
  const how = ['--bundle', '--platform=node', '--format=esm', '--target=node24'];
  const to = [`--outfile=${program}`, `--banner:js=${REQUIRE}`, '--log-level=warning'];
  await promisify(execFile)(BUNDLER, [MAIN, ...how, ...to]);
  const url = `http://127.0.0.1:${config.port}`;
  return {
    name: 'broker',
    command: process.execPath,
    args: ['--max-semi-space-size=1', program, path],
    env: {},
    url,
    ready: (signal) => answers(`${url}/health/readiness`, signal),
  };
}

export async function readDeliveryStats(
  brokerUrl: string,
  signal: AbortSignal,
): Promise<DeliveryStats> {
  const response = await fetch(`${brokerUrl}/stats`, { signal });
  if (!response.ok) throw new Error(`the broker answered ${response.status} to GET /stats`);
  // Both sides of this connection are the same version of these files.
  const stats: DeliveryStats = JSON.parse(await response.text());
  return stats;
}
