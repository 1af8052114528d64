// Takes away what a cluster has outside of its namespaces: its processes and with them the
// namespaces, its end of the wire, its cgroups, its directory. Safe to call twice, and on a cluster
// that got nowhere.
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { hierarchies, killCgroup, removeCgroup } from './cgroups.ts';
import { cgroupName, deadClusters, readRecord } from './cluster-directory.ts';
import { cutWire, isOurInterface } from './wire.ts';

/** The kernel takes a network namespace apart in the background, after its last process. */
const INTERFACE_GONE_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 20;

export async function cleanUp(dir: string): Promise<void> {
  const cgroup = cgroupName(dir);
  const found = await hierarchies();
  const record = await readRecord(dir);
  if (record !== undefined) await cutWire(record.addresses.interfaceName, dir);
  await killCgroup(cgroup, found);
  if (record !== undefined) await interfaceGone(record.addresses.interfaceName, dir);
  await removeCgroup(cgroup, found);
  await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

async function interfaceGone(name: string, dir: string): Promise<void> {
  const endsAtMs = Date.now() + INTERFACE_GONE_WITHIN_MS;
  while (await isOurInterface(name, dir)) {
    if (Date.now() > endsAtMs) throw new Error(`${name} is still there: \`ip link del ${name}\``);
    await sleep(LOOK_EVERY_MS);
  }
}

/** After clusters whose starter, and whose reaper, were killed. */
export async function cleanUpLeftovers(onTrouble: (text: string) => void): Promise<void> {
  for (const dir of await deadClusters()) {
    await cleanUp(dir).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      onTrouble(`${dir} was left behind by a cluster, and something of it stays: ${why}`);
    });
  }
}
