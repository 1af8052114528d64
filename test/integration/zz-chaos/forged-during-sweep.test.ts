// Reproduction: a claim that is published while a sweep is under way is never looked at again.
import { expect, test } from 'vitest';
import { createPod, labelPod } from '/work/main/test/integration/feed/objects.ts';
import { FeedWorld } from '/work/main/test/integration/feed/world.ts';

test('a claim without ground that comes during a sweep does not outlive the next one', async () => {
  const world = await FeedWorld.start();
  try {
    await world.createFeed('f');
    const stream = world.stream('f');
    const a = await world.startFunction();
    const b = await world.startFunction();
    const pods = [];
    for (let n = 0; n < 200; n += 1) pods.push(await createPod(world.kube, `p${n}`, 'n1'));
    expect(await a.sweep()).toBe(204);
    // So that the sweep's history holds half of them.
    for (let n = 0; n < 200; n += 2) await labelPod(world.kube, `p${n}`, { step: '1' });
    let done = false;
    const sweeping = a.sweep().finally(() => (done = true));
    for (const pod of pods) {
      if (done) break;
      const metadata = { ...pod.metadata, resourceVersion: '999999999', labels: { forged: 'yes' } };
      await b.change({ ...pod, metadata }, 'update');
      await new Promise((r) => { setTimeout(() => r(undefined), 8); });
    }
    console.log('ended before', done);
    expect(await sweeping).toBe(204);
    for (let n = 1; n < 5; n += 1) {
      await expect.poll(a.sweep, { timeout: 20_000 }).toBe(204);
      const shown = [...(await world.shown(stream))].filter(([, m]) => JSON.stringify(m).includes('forged'));
      console.log('after sweep', n, shown.map(([s]) => s));
    }
    expect(await world.shown(stream)).toEqual(await world.expected());
  } finally {
    await world.stop();
  }
});
