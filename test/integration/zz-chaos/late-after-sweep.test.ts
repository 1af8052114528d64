// Reproduction: what a sweep tells first closes no other place, so a late event takes a pod back.
import { expect, test } from 'vitest';
import { bindPod, createPod, removePod } from '/work/main/test/integration/feed/objects.ts';
import { FeedWorld } from '/work/main/test/integration/feed/world.ts';

test('an event that comes after the sweep that told its successor changes nothing', async () => {
  const world = await FeedWorld.start();
  try {
    await world.createFeed('f');
    const stream = world.stream('f');
    const a = await world.startFunction();
    expect(await a.sweep()).toBe(204);
    const pending = await createPod(world.kube, 'late');
    await bindPod(world.kube, 'late', 'n1');
    const dead = await createPod(world.kube, 'dead', 'n1');
    await removePod(world.kube, 'dead');
    expect(await a.sweep()).toBe(204);
    await a.change(pending, 'add');
    await a.change(dead, 'add');
    expect([...(await world.shown(stream)).keys()].filter((s) => s.includes('.pods.'))).toEqual(['node.n1.pods.default.late']);
  } finally {
    await world.stop();
  }
});
