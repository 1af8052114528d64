// The commands for a cluster that somebody else holds up: status, logs, down.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { openKube } from '../../../shared/kube/client.ts';
import { resolvePart } from '../local/parts/resolve.ts';
import { formatBytes } from '../local/view/format.ts';
import { cleanUp } from './clean-up.ts';
import {
  controlSocket,
  deadClusters,
  findClusters,
  type FoundCluster,
  kubeconfigPath,
} from './cluster-directory.ts';
import { ask, type PartRow } from './control.ts';

/** A starter needs a second to clean up; more only while an image is being unpacked. */
const DOWN_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 50;

type Print = (text: string) => void;

async function clusterAt(subnet: string | undefined): Promise<FoundCluster> {
  const all = await findClusters();
  const found = all.filter(({ addresses }) => [addresses.subnet, undefined].includes(subnet));
  const [one, ...more] = found;
  if (one !== undefined && more.length === 0) return one;
  const subnets = all.map(({ addresses }) => addresses.subnet).join(', ');
  if (subnets === '') throw new Error('No cluster runs here: `npm run cluster` starts one.');
  if (one === undefined) throw new Error(`No cluster runs at ${subnet}; there are: ${subnets}`);
  throw new Error(`Several clusters run here; choose one with --subnet: ${subnets}`);
}

export async function showStatus(subnet: string | undefined, print: Print): Promise<void> {
  const cluster = await clusterAt(subnet);
  const { dir, addresses, nodes, starterPid, isAlive } = cluster;
  const state = isAlive ? `held up by pid ${starterPid}` : 'left behind: `npm run cluster -- down`';
  print(`A cluster of ${nodes} at ${addresses.subnet}, ${state}.`);
  if (!isAlive) return;
  print(`export KUBECONFIG=${kubeconfigPath(dir)}`);
  const rows = await ask<readonly PartRow[]>(controlSocket(dir), '/parts');
  const width = Math.max(...rows.map(({ name }) => name.length));
  for (const { name, state: partState, sizeBytes } of rows) {
    print(`  ${name.padEnd(width)}  ${partState.padEnd(8)}  ${formatBytes(sizeBytes)}`);
  }
}

/** Shows the log of a part, or else of a pod. */
export async function showLogs(
  of: string,
  subnet: string | undefined,
  print: Print,
): Promise<void> {
  const { dir } = await clusterAt(subnet);
  const rows = await ask<readonly PartRow[]>(controlSocket(dir), '/parts');
  if (!rows.some(({ name }) => name === of)) return showPodLogs(dir, of, rows);
  const lines = await ask<readonly string[]>(controlSocket(dir), '/lines', { part: of });
  print(lines.join('\n'));
}

async function showPodLogs(dir: string, of: string, parts: readonly PartRow[]): Promise<void> {
  const [name = '', namespace] = of.split('/').toReversed();
  const kubeconfig = kubeconfigPath(dir);
  const kube = openKube({
    kubeconfigPath: kubeconfig,
    userAgent: 'ballast-cluster',
    fieldManager: 'ballast-cluster',
  });
  const options = { fieldSelector: `metadata.name=${name}` };
  const pods = await kube.list({ group: '', version: 'v1', resource: 'pods' }, options);
  await kube.close();
  const pod = pods.items.find(({ metadata }) =>
    [metadata.namespace, undefined].includes(namespace),
  );
  if (pod === undefined) {
    const names = parts.map((part) => part.name).join(', ');
    throw new Error(`There is neither a part nor a pod named ${of}. The parts: ${names}`);
  }
  const kubectl = await resolvePart('kubectl');
  const where = [`--kubeconfig=${kubeconfig}`, `--namespace=${pod.metadata.namespace ?? ''}`];
  const args = ['logs', name, '--all-containers', ...where];
  const child = spawn(kubectl, args, { stdio: 'inherit' });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`kubectl could not show the log of ${of}.`);
}

export async function endCluster(subnet: string | undefined, print: Print): Promise<void> {
  const { dir, starterPid, isAlive, addresses } = await clusterAt(subnet);
  if (!isAlive) {
    await cleanUp(dir);
    return print(`What was left of the cluster at ${addresses.subnet} is gone.`);
  }
  tellToEnd(starterPid);
  const endsAtMs = Date.now() + DOWN_WITHIN_MS;
  while (await isThere(dir)) {
    // Killed by somebody meanwhile: it takes nothing away any more.
    if ((await deadClusters()).includes(dir)) await cleanUp(dir);
    else if (Date.now() > endsAtMs)
      throw new Error(`pid ${starterPid} was told to end the cluster and does not; kill it.`);
    await sleep(LOOK_EVERY_MS);
  }
  print(`The cluster at ${addresses.subnet} is gone.`);
}

function tellToEnd(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    // It has ended since it was found.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
