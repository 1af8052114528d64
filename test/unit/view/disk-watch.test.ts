// A disk that runs full is told once, and again when it ran full again.
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { DiskWatch } from '../../../knative/try/local/view/disk-watch.ts';

const MIB = 2 ** 20;

test('a full disk is told once, with its directory and what is left', async () => {
  const told: string[] = [];
  let free = 10_000 * MIB;
  const watch = new DiskWatch(
    ['/data'],
    (text) => told.push(text),
    async () => free,
  );
  await watch.check();
  expect(told).toEqual([]);
  free = 12 * MIB;
  await watch.check();
  await watch.check();
  expect(told).toHaveLength(1);
  expect(told[0]).toContain('12 MiB are left at /data');
  free = 10_000 * MIB;
  await watch.check();
  free = 0;
  await watch.check();
  expect(told).toHaveLength(2);
});

test('a real disk can be asked', async () => {
  const told: string[] = [];
  const watch = new DiskWatch([tmpdir()], (text) => told.push(text));
  await watch.check();
  expect(told.every((text) => text.includes(tmpdir()))).toBe(true);
});
