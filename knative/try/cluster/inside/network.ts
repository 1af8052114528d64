// The cluster's side of the network: its addresses on the one wire to the machine, and forwarding
// between that wire and the bridges of the nodes. All of it is this namespace's own.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Addresses, NodeAddresses } from '../addresses.ts';
import { run } from '../commands.ts';
import { INSIDE_INTERFACE } from '../wire.ts';

export async function setUpNetwork(
  addresses: Addresses,
  nodes: readonly NodeAddresses[],
): Promise<void> {
  const { controlPlane, dnsServer, host } = addresses;
  await run('ip', 'link', 'set', 'lo', 'up');
  await run('ip', 'link', 'set', INSIDE_INTERFACE, 'up');
  await addAddress(`${controlPlane}/30`);
  for (const address of [dnsServer, ...nodes.map((node) => node.address)])
    await addAddress(`${address}/32`);
  await run('ip', 'route', 'add', 'default', 'via', host);
  await setKernel('net/ipv4/ip_forward', '1');
}

/**
 * Whether packets between pods of one node pass the rules of Services; where the kernel cannot,
 * senders have to be disguised instead.
 */
export async function bridgesObeyRules(): Promise<boolean> {
  return setKernel('net/bridge/bridge-nf-call-iptables', '1').then(
    () => true,
    () => false,
  );
}

const addAddress = (address: string): Promise<string> =>
  run('ip', 'address', 'add', address, 'dev', INSIDE_INTERFACE);

const setKernel = (name: string, value: string): Promise<void> =>
  writeFile(join('/proc/sys', name), value);
