// Thirty runs of random faults on top of each other. A thousand: `npm run chaos:feed -- --seeds 1000`.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { complaint } from '../../../chaos/figures.ts';
import type { Rig } from '../../../chaos/rig.ts';
import { openScene } from '../../../chaos/scene.ts';
import { runSeed } from '../../../chaos/seed.ts';

const SEEDS = 30;
/** These cost seconds each, and have tests of their own beside this one. */
const LEFT_OUT = [
  'sweeps',
  'events forge',
  'events misplace',
  'nats-server without its disk',
  'stream deleted',
  'API server killed',
];
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
      expect(wrong, complaint(String(seed), wrong)).toEqual([]);
    }
  },
  ALL_OF_THEM_MS,
);
