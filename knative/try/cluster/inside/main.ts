// The supervisor of a cluster, alone with it in namespaces of its own: told by a file what to
// bring up, and on its standard input when the wire to the machine is there. When the input ends,
// the starter has, and so does this and everything in here with it.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { relay } from '../../local/process/relay.ts';
import { controlSocket, etcdSocket } from '../cluster-directory.ts';
import type { InsideConfig, InsideMessage } from './config.ts';
import { serveControl } from './control-server.ts';
import { setUpMounts } from './mounts.ts';
import { setUpNetwork } from './network.ts';
import { ClusterSupervisor } from './supervisor.ts';

const print = (message: InsideMessage): void => {
  process.stdout.write(`${JSON.stringify(message)}\n`);
};

/** With this process ends its shell, which is pid 1, and with that everything. */
function endAll(): void {
  process.kill(process.pid, 'SIGKILL');
}

async function main(configPath: string): Promise<void> {
  const config: InsideConfig = JSON.parse(await readFile(configPath, 'utf8'));
  process.stdin.on('end', endAll);
  await Promise.all([setUpMounts(config.hostDir), once(process.stdin, 'data')]);
  await setUpNetwork(config.addresses, config.nodes);
  const cluster = await ClusterSupervisor.start(config, print);
  await serveControl(cluster, controlSocket(config.dir));
  const { hostname: host, port } = new URL(cluster.part('etcd').url);
  await relay({ path: etcdSocket(config.dir) }, { host, port: Number(port) });
  print({ kind: 'up' });
}

try {
  await main(process.argv[2] ?? '');
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  endAll();
}
