// A few runs of random faults on top of each other; `npm run chaos:feed -- --seeds 1000` makes a
// thousand.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { complaint } from '../../../chaos/figures.ts';
import type { Rig } from '../../../chaos/rig.ts';
import { openScene } from '../../../chaos/scene.ts';
import { runSeed } from '../../../chaos/seed.ts';

/** Together they choose all faults but three: the one left out, and two that have a test each. */
const SEEDS = ['40', '398', '433'];
/** After it the real adapter needs up to half a minute to send again. */
const LEFT_OUT = ['API server killed'];

let rig: Rig;

beforeAll(async () => {
  rig = await openScene();
});

afterAll(async () => {
  await rig?.stop();
});

test.each(SEEDS)(
  'whatever breaks at the same time, one sweep later every reader is right: seed %s',
  async (seed) => {
    const { wrong } = await runSeed(rig, seed, LEFT_OUT);
    // By lines: reports show those that are too many, and cut one long text short.
    const lines = wrong.length === 0 ? [] : complaint(seed, wrong, LEFT_OUT).split('\n');
    expect(lines).toEqual([]);
  },
);
