// Thirty runs of random faults on top of each other; `npm run chaos:feed -- --seeds 1000` makes a
// thousand.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { complaint } from '../../../chaos/figures.ts';
import type { Rig } from '../../../chaos/rig.ts';
import { openScene } from '../../../chaos/scene.ts';
import { runSeed } from '../../../chaos/seed.ts';

const SEEDS = 30;
/** After it the real adapter needs up to half a minute to send again. */
const LEFT_OUT = ['API server killed'];
const ALL_OF_THEM_MS = 400_000;

let rig: Rig;

beforeAll(async () => {
  rig = await openScene();
});

afterAll(async () => {
  await rig?.stop();
});

test(
  'whatever breaks at the same time, one sweep later every reader is right',
  async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { wrong } = await runSeed(rig, String(seed), LEFT_OUT);
      // By lines: reports show those that are too many, and cut one long text short.
      const lines = wrong.length === 0 ? [] : complaint(String(seed), wrong, LEFT_OUT).split('\n');
      expect(lines).toEqual([]);
    }
  },
  ALL_OF_THEM_MS,
);
