// The place of several files that one test file runs, whose start costs five seconds of CPU. Each
// of them has namespaces of its own, and takes its clusters away at its end: the sweeps of the next
// one would look at them, too.
import { afterAll, beforeAll } from 'vitest';
import { EtcdPlace } from './etcd-place.ts';
import { SCENARIO_MS } from './etcd-scene.ts';

export let place: EtcdPlace;

export function withPlace(): void {
  beforeAll(async () => {
    place = await EtcdPlace.start();
  }, SCENARIO_MS);

  afterAll(async () => {
    await place?.stop();
  });
}
