// Runs before each file of a lane: the plane is as the lane's start left it, whatever the file
// before did to it.
import { readFile } from 'node:fs/promises';
import { beforeAll, inject } from 'vitest';
import { putBack, stateFile } from './etcd-state.ts';
import { removeStreams } from './nats-state.ts';
import { sharedPlane } from './shared-plane.ts';

beforeAll(async () => {
  const plane = sharedPlane();
  await putBack(plane.part('etcd').url, JSON.parse(await readFile(stateFile(plane.dir), 'utf8')));
  const nats = inject('plane')?.parts.find(({ name }) => name === 'nats-server');
  if (nats !== undefined) await removeStreams(nats.url);
});
