// The broker process as a part of a plane, and how others read what went through it.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answers } from '../plane/probe.ts';
import type { PartSpec } from '../process/part.ts';
import type { DeliveryConfig } from './config.ts';
import type { DeliveryStats } from './stats.ts';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

/** Writes the config into `dir`, which is the plane's. */
export async function brokerPart(dir: string, config: DeliveryConfig): Promise<PartSpec> {
  const path = join(dir, 'delivery.json');
  await writeFile(path, JSON.stringify(config));
  const url = `http://127.0.0.1:${config.port}`;
  return {
    name: 'broker',
    command: process.execPath,
    args: ['--max-semi-space-size=1', MAIN, path],
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
