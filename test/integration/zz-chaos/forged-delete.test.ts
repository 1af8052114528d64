// Reproduction: a forged delete of the far future keeps a later object of that name out of the feed.
import { expect, test } from 'vitest';
import { createPod, removePod } from '/work/main/test/integration/feed/objects.ts';
import { FeedWorld } from '/work/main/test/integration/feed/world.ts';

test('a forged delete does not outlive a sweep, even when the object is really deleted after it', async () => {
  const world = await FeedWorld.start();
  try {
    await world.createFeed('f');
    const stream = world.stream('f');
    const a = await world.startFunction();
    const pod = await createPod(world.kube, 'x', 'n1');
    expect(await a.sweep()).toBe(204);
    await a.change({ ...pod, metadata: { ...pod.metadata, resourceVersion: '999999999' } }, 'delete');
    await removePod(world.kube, 'x');
    expect(await a.sweep()).toBe(204);
    await a.change(await createPod(world.kube, 'x', 'n1'), 'add');
    for (let n = 0; n < 4; n += 1) expect(await a.sweep()).toBe(204);
    expect(await world.shown(stream)).toEqual(await world.expected());
  } finally {
    await world.stop();
  }
});
