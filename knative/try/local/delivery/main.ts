// The broker process: `node main.ts <config file>`, where the file holds a DeliveryConfig. Ends on
// SIGTERM.
import { readFile } from 'node:fs/promises';
import type { DeliveryConfig } from './config.ts';
import { startDelivery } from './start.ts';

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('usage: node main.ts <config file>');
const config: DeliveryConfig = JSON.parse(await readFile(path, 'utf8'));
const delivery = await startDelivery(config);
process.stdout.write(`delivering on ${delivery.url}\n`);
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  // Nothing is left to wait for then, so the process ends by itself.
  process.once(signal, () => void delivery.stop());
}
