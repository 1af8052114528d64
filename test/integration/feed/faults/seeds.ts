// A few runs of random faults on top of each other; `npm run chaos:feed -- --seeds 1000` makes a
// thousand.
import { expect, test } from 'vitest';
import { complaint } from '../../../chaos/figures.ts';
import { runSeed } from '../../../chaos/seed.ts';
import { rig } from './story.ts';

/** Together they choose all faults but three: the one left out, and two that have a test each. */
const SEEDS = ['40', '398', '433'];
/** After it the real adapter needs up to half a minute to send again. */
const LEFT_OUT = ['API server killed'];
const ALL_OF_THEM_MS = 120_000;

test.each(SEEDS)(
  'whatever breaks at the same time, one sweep later every reader is right: seed %s',
  async (seed) => {
    await rig.setInstances(2);
    const { wrong } = await runSeed(rig, seed, LEFT_OUT);
    // By lines: reports show those that are too many, and cut one long text short.
    const lines = wrong.length === 0 ? [] : complaint(seed, wrong, LEFT_OUT).split('\n');
    expect(lines).toEqual([]);
  },
  ALL_OF_THEM_MS,
);
