// The functions as they ship, each from its bundle, with the settings and the rights of its
// manifests, beside a real control plane; and what each of them holds in memory against the limit
// of its pod. Resident memory counts all of Node's own text too, as a pod that is alone with it.
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { buildFunction } from '../../../knative/tools/build/build.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { bundleCommand, functionSpec } from '../../../knative/try/local/cluster/function-part.ts';
import { ServiceAccounts } from '../../../knative/try/local/cluster/service-accounts.ts';
import { loadWiring } from '../../../knative/try/local/manifests/load.ts';
import type { FunctionWiring, Wiring } from '../../../knative/try/local/manifests/wiring.ts';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

export interface World {
  readonly plane: Plane;
  readonly kube: KubeClient;
  readonly wiring: Wiring;
  readonly accounts: ServiceAccounts;
}

export interface Victim {
  readonly name: string;
  readonly part: Part;
  readonly url: string;
  readonly port: number;
  /** The memory limit of its pod. */
  readonly limitBytes: number;
  readonly atOnce: number;
}

export async function withWorld<Result>(work: (world: World) => Promise<Result>): Promise<Result> {
  const wiring = await loadWiring(join(ROOT, 'knative'));
  const plane = await startPlane({ restart: 'backoff' });
  const { kubeconfigPath } = plane;
  const kube = openKube({ kubeconfigPath, userAgent: 'floods', fieldManager: 'floods' });
  const accounts = new ServiceAccounts(kube, plane, (error) => {
    process.stderr.write(`A token was not renewed: ${String(error)}\n`);
  });
  try {
    await applyObjects(kube, wiring.objects);
    return await work({ plane, kube, wiring, accounts });
  } finally {
    accounts.close();
    await kube.close();
    await plane.stop();
  }
}

export async function startVictim(world: World, name: string): Promise<Victim> {
  const found = world.wiring.functions.find((one) => one.name === name);
  if (found === undefined) throw new Error(`The manifests have no function ${name}.`);
  const { dir } = await buildFunction(name);
  const { namespace, serviceAccountName, containerConcurrency } = found;
  const account = { namespace, name: serviceAccountName };
  const kubeconfigPath = await world.accounts.kubeconfigFor(`function/${name}`, account);
  const port = await freePort();
  const env = { ...environmentOf(world, found), LOG_LEVEL: 'error' };
  const command = bundleCommand(dir);
  const part = await world.plane.add(functionSpec({ name, command, port, kubeconfigPath, env }));
  const limitBytes = await limitOf(name);
  return { name, part, url: part.url, port, limitBytes, atOnce: containerConcurrency };
}

function environmentOf({ plane }: World, { name, env }: FunctionWiring): Record<string, string> {
  const { urls = {} } = plane.part('nats-server');
  return {
    ...env,
    ...(urls[name] === undefined ? {} : { NATS_URL: urls[name] }),
    ...('ETCD_ENDPOINTS' in env ? { ETCD_ENDPOINTS: plane.part('etcd').url } : {}),
  };
}

async function limitOf(name: string): Promise<number> {
  const path = join(ROOT, `knative/functions/${name}/service.yaml`);
  const mebibytes = /limits:\s+memory: (\d+)Mi/.exec(await readFile(path, 'utf8'))?.[1];
  if (mebibytes === undefined) throw new Error(`${path} has no limit of memory`);
  return Number(mebibytes) * 1024 * 1024;
}

export interface Memory {
  readonly pid: number;
  readonly nowBytes: number;
  /** Since `forgetPeak`. */
  readonly peakBytes: number;
}

/** Undefined when the process is gone. */
export async function memoryOf({ part }: Victim): Promise<Memory | undefined> {
  const { pid } = part;
  if (pid === undefined) return undefined;
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const bytes = (field: string): number =>
    Number(new RegExp(String.raw`${field}:\s+(\d+) kB`).exec(status)?.[1]) * 1024;
  const [nowBytes, peakBytes] = [bytes('VmRSS'), bytes('VmHWM')];
  return Number.isNaN(nowBytes) ? undefined : { pid, nowBytes, peakBytes };
}

/** From now on the peak is that of what comes. */
export async function forgetPeak({ part }: Victim): Promise<void> {
  await writeFile(`/proc/${part.pid}/clear_refs`, '5');
}
