// The place of the files that `place.test.ts` runs: one plane, whose start costs as much CPU as
// most of their tests. Each has namespaces of its own.
import { afterAll, beforeAll } from 'vitest';
import { Place } from './place.ts';
import { SCENARIO_MS } from './scene.ts';

export let place: Place;

export function withPlace(): void {
  beforeAll(async () => {
    place = await Place.start();
  }, SCENARIO_MS);

  afterAll(async () => {
    await place?.stop();
  });
}
