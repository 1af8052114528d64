// Runs before each file of a lane: the plane is as the lane's start left it, whatever the file
// before did to it.
import { readFile } from 'node:fs/promises';
import { beforeAll } from 'vitest';
import { putBack, stateFile } from './etcd-state.ts';
import { sharedPlane } from './shared-plane.ts';

beforeAll(async () => {
  const plane = sharedPlane();
  await putBack(plane.part('etcd').url, JSON.parse(await readFile(stateFile(plane.dir), 'utf8')));
});
