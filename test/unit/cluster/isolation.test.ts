// Mounts of the machine's directories, as the kernel lists them.
import { expect, test } from 'vitest';
import { mountsIn } from '../../../knative/try/cluster/inside/isolation.ts';

const row = (path: string, options: string): string =>
  `28 27 0:25 / ${path} ${options} shared:1 - ext4 /dev/vda rw,discard`;

test('each path is there once, with the options of the mount that is seen', () => {
  const rows = [row('/', 'rw,relatime'), row('/mnt', 'rw'), row('/mnt', 'ro,nosuid'), ''];
  expect(mountsIn(rows.join('\n'))).toEqual([
    { path: '/', options: 'rw,relatime' },
    { path: '/mnt', options: 'ro,nosuid' },
  ]);
});

test('a blank in a path is a blank', () => {
  expect(mountsIn(row('/media/a\\040b', 'rw'))[0]?.path).toBe('/media/a b');
});
