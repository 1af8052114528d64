// Parts of a starter that crashed are found by their mark and ended, at once by its reaper or else
// by the next start; a running plane is left alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTimeTicks } from '../../../knative/try/local/process/proc.ts';
import {
  claimDirectory,
  livePlanes,
  makeRunDirectory,
  sweepLeftovers,
} from '../../../knative/try/local/process/run-directory.ts';

const crashedPlane = async (root: string): Promise<{ path: string; pid: number }> => {
  const owner = spawn(process.execPath, ['-e', '']);
  await once(owner, 'exit');
  const path = join(root, `plane-${owner.pid}-abc`);
  await mkdir(path);
  await writeFile(join(path, 'owner'), `${owner.pid} 12345`);
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
    env: { BALLAST_PLANE: path },
  });
  await once(child, 'spawn');
  return { path, pid: child.pid ?? 0 };
};

test('processes and directory of a crashed plane are removed', async () => {
  const root = await mkdtemp(join(tmpdir(), 'ballast-sweep-'));
  const { path, pid } = await crashedPlane(root);
  expect(await sweepLeftovers(root)).toEqual([{ path, pids: [pid] }]);
  await expect.poll(() => startTimeTicks(pid)).toBeUndefined();
  await expect(stat(path)).rejects.toThrow('ENOENT');
  await rm(root, { recursive: true });
});

test('a plane of a container that shares the directory is left alone', async () => {
  const root = await mkdtemp(join(tmpdir(), 'ballast-sweep-'));
  const { path, pid } = await crashedPlane(root);
  await writeFile(join(path, 'owner'), '1 12345 pid:[1]');
  expect(await sweepLeftovers(root)).toEqual([]);
  expect((await stat(path)).isDirectory()).toBe(true);
  process.kill(pid);
  await rm(root, { recursive: true });
});

test('a starter that is killed takes its parts along, also those that stand still', async () => {
  const root = await mkdtemp(join(tmpdir(), 'ballast-killed-'));
  const starter = spawn(process.execPath, [join(import.meta.dirname, 'hold-plane.ts')], {
    env: { ...process.env, TMPDIR: root },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(starter.stdout.setEncoding('utf8'), 'data');
  const { dir, pids } = JSON.parse(String(line)) as { dir: string; pids: readonly number[] };
  const running = () => Promise.all(pids.map(startTimeTicks));
  expect(await running()).toEqual([expect.any(Number), expect.any(Number)]);
  starter.kill('SIGKILL');
  await expect.poll(running).toEqual([undefined, undefined]);
  await expect.poll(() => stat(dir).catch(() => undefined)).toBeUndefined();
  await rm(root, { recursive: true });
});

test('kept data has one user at a time, and outlives a user that crashed', async () => {
  const path = await mkdtemp(join(tmpdir(), 'ballast-kept-'));
  await claimDirectory(path);
  await claimDirectory(path);
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  await once(other, 'spawn');
  const ticks = await startTimeTicks(other.pid ?? 0);
  await writeFile(join(path, 'owner'), `${other.pid} ${ticks}`);
  await expect(claimDirectory(path)).rejects.toThrow(`is used by the start with pid ${other.pid}`);
  other.kill('SIGKILL');
  await once(other, 'exit');
  await claimDirectory(path);
  await rm(path, { recursive: true });
});

test('a plane whose owner lives is left alone, and is found by name', async () => {
  const run = await makeRunDirectory();
  await sweepLeftovers();
  expect((await stat(run.path)).isDirectory()).toBe(true);
  expect(await livePlanes()).toContain(run.path);
  await run.remove();
  expect(await livePlanes()).not.toContain(run.path);
});
