// However a cluster ends, the machine is afterwards as it was before: no process, mount, interface,
// route, rule, cgroup, setting or file more.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ask } from '../../knative/try/cluster/control.ts';
import { Kubectl } from './support/kubectl.ts';
import {
  machineState,
  type MachineState,
  namespacesOf,
  processesIn,
  writableFrom,
} from './support/machine-state.ts';
import { nodeArchive } from './support/node-image.ts';
import { claim, pod, service, WEB } from './support/pods.ts';
import { userId } from '../../knative/try/local/process/user-id.ts';

const MAIN = resolve(import.meta.dirname, '../../knative/try/cluster/main.ts');
/** Beside the one that a person may be running. */
const SUBNET = '10.197.0.0/16';
const INTERFACE = 'ballast-10-197';
const within = { timeout: 60_000, interval: 100 };

interface Started {
  readonly starter: ChildProcess;
  readonly dir: string;
  readonly namespaces: readonly string[];
}

/** Where this test has its own things, and in it where clusters have theirs. */
let scratch: string;
let clusters: string;
let before: MachineState;
let started: Started | undefined;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'ballast-leftovers-'));
  clusters = join(scratch, 'clusters');
  await mkdir(clusters);
  before = await readState();
});

afterEach(async () => {
  started?.starter.kill('SIGTERM');
  started = undefined;
  await rm(scratch, { recursive: true, force: true });
});

const readState = (): Promise<MachineState> =>
  machineState(join(clusters, `ballast-${userId()}`), INTERFACE);

const command = (...args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [MAIN, ...args], {
    // Its directory is counted like everything else.
    env: { ...process.env, TMPDIR: clusters },
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** Up, with pods that serve and write: everything that a cluster makes has been made. */
async function startBusy(nodes = 1): Promise<Started> {
  const starter = command('--without-knative', '--nodes', `${nodes}`, '--subnet', SUBNET);
  const kubeconfig = await new Promise<string>((found, failed) => {
    starter.once('exit', (code) => failed(new Error(`it ended with ${code}`)));
    if (starter.stdout === null) throw new Error('no output');
    createInterface({ input: starter.stdout }).on('line', (line) => {
      const path = /^export KUBECONFIG=(.+)$/.exec(line)?.[1];
      if (path !== undefined) found(path);
    });
  });
  const dir = dirname(kubeconfig);
  const archive = await nodeArchive();
  await ask(join(dir, 'control.sock'), '/import', { archive });
  const kubectl = await Kubectl.at(kubeconfig, scratch);
  await kubectl.apply(claim('data'), service('web'));
  await kubectl.apply(pod({ name: 'web', script: WEB, claim: 'data' }));
  await kubectl.run('wait', '--for=condition=Ready', 'pod/web', '--timeout=60s');
  return { starter, dir, namespaces: await namespacesInside(dir) };
}

/** The namespaces of the supervisor: a process that shares one belongs to the cluster. */
async function namespacesInside(dir: string): Promise<readonly string[]> {
  const own = await namespacesOf(process.pid);
  const pids = await pidsBelow(Number(/cluster-(\d+)-/.exec(dir)?.[1]));
  const all = (await Promise.all(pids.map(namespacesOf))).flat();
  return [...new Set(all)].filter((one) => !own.includes(one));
}

async function pidsBelow(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = text.split(' ').filter(Boolean).map(Number);
  return [pid, ...(await Promise.all(children.map(pidsBelow))).flat()];
}

/** One of those that come and go. */
function whenGone(error: NodeJS.ErrnoException): readonly string[] {
  if (error.code === 'ENOENT' || error.code === 'EINVAL') return [];
  throw error;
}

const isGone = (path: string): Promise<boolean> =>
  access(path).then(
    () => false,
    () => true,
  );

async function expectNothingLeft({ dir, namespaces }: Started): Promise<void> {
  await vi.waitFor(async () => expect(await isGone(dir)).toBe(true), within);
  expect(namespaces.length).toBeGreaterThanOrEqual(5);
  // Orphans are reaped by the machine's first process, in its own time.
  await vi.waitFor(async () => expect(await processesIn(namespaces)).toEqual([]), within);
  expect(await readState()).toEqual(before);
}

test('after Ctrl-C while it starts nothing is left', async () => {
  const starter = command('--without-knative', '--subnet', SUBNET);
  onTestFinished(() => void starter.kill('SIGKILL'));
  if (starter.stdout === null) throw new Error('no output');
  // The first thing that it says: etcd runs, and with it namespaces, mounts and the wire.
  await once(createInterface({ input: starter.stdout }), 'line');
  starter.kill('SIGINT');
  const [code] = await once(starter, 'exit');
  expect(code).toBe(0);
  expect(await readState()).toEqual(before);
});

test('it cannot write to the machine, and after `down` nothing is left', async () => {
  started = await startBusy();
  const inside = await processesIn(started.namespaces);
  expect(inside.length).toBeGreaterThan(5);
  for (const pid of inside) {
    expect(await writableFrom(pid, basename(started.dir)).catch(whenGone)).toEqual([]);
  }
  // A second one in its place is refused, and does the first no harm.
  const [refusal] = await once(command('--without-knative', '--subnet', SUBNET), 'exit');
  expect(refusal).toBe(1);
  const ended = once(started.starter, 'exit');
  const [code] = await once(command('down', '--subnet', SUBNET), 'exit');
  expect(code).toBe(0);
  // Both say that it is gone: then this is so already.
  expect(await ended).toEqual([0, null]);
  expect(await isGone(started.dir)).toBe(true);
  await expectNothingLeft(started);
});

test('after the starter was killed nothing is left', async () => {
  started = await startBusy(2);
  started.starter.kill('SIGKILL');
  await once(started.starter, 'exit');
  expect(started.starter.signalCode).toBe('SIGKILL');
  await expectNothingLeft(started);
});
