// Where a cluster cannot be, it says why and has changed nothing. Each machine that lacks something
// is this one, seen from namespaces in which it is missing.
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { machineState, type MachineState } from './support/machine-state.ts';

const MAIN = resolve(import.meta.dirname, '../../knative/try/cluster/main.ts');
const SUBNET = '10.196.0.0/16';
const INTERFACE = 'ballast-10-196';

/** It refuses within a second; a cluster that comes up instead would stay. */
const TIMEOUT_MS = 20_000;

let scratch: string;
let before: MachineState;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'ballast-refusals-'));
  before = await machineState(scratch, INTERFACE);
});

afterEach(async () => {
  await rm(scratch, { recursive: true, force: true });
});

/** In new namespaces of these kinds, after a shell command that takes something away. */
function refused(namespaces: readonly string[], prepare: string, TMPDIR = scratch): string {
  const start = `exec '${process.execPath}' '${MAIN}' --without-knative --subnet ${SUBNET}`;
  const { status, stderr } = spawnSync(
    'unshare',
    [...namespaces, 'sh', '-c', `${prepare} && ${start}`],
    { encoding: 'utf8', timeout: TIMEOUT_MS, env: { ...process.env, TMPDIR } },
  );
  expect(status).toBe(1);
  return stderr;
}

test.each([
  ['root', ['--user'], 'true', 'needs root'],
  ['cgroups', ['--mount'], 'umount -R /sys/fs/cgroup', 'cpu, cpuset, memory, pids are not mounted'],
  [
    'its network',
    ['--net'],
    'ip link set lo up && ip address add 10.196.3.4/24 dev lo',
    '10.196.0.0/16 is taken on this machine',
  ],
  [
    'the name of its interface',
    ['--net'],
    'ip link add ballast-10-196 type veth peer name other',
    'an interface named ballast-10-196 already',
  ],
  [
    'programs',
    ['--mount'],
    'mount -t tmpfs tmpfs /usr/bin',
    'These programs are missing: unshare, setpriv, mount',
  ],
])('without %s it refuses', async (_what, namespaces, prepare, why) => {
  expect(refused(namespaces, prepare)).toContain(why);
  expect(await machineState(scratch, INTERFACE)).toEqual(before);
});

test('in a directory whose sockets would have too long paths it refuses', async () => {
  const long = join(scratch, 'x'.repeat(60));
  expect(refused(['--mount'], `mkdir '${long}'`, long)).toContain('TMPDIR is too long');
  await rm(long, { recursive: true });
  expect(await machineState(scratch, INTERFACE)).toEqual(before);
});
