// The road stands, but what comes along it does not hold: events are lost, doubled, late, in
// another order, or untrue. And readers that were away.
import { expect, test } from 'vitest';
import { Random } from '../../../chaos/random.ts';
import type { Odds } from '../../../chaos/relay.ts';
import { NAMESPACE, PODS } from '../../../chaos/shapes.ts';
import { WELL, rig, story } from './story.ts';

async function mangled(odds: Odds): Promise<void> {
  rig.relay.mangle(odds, new Random(JSON.stringify(odds)));
  await story.goesOn();
  await rig.relay.quiet();
}

test('every event is lost', async () => {
  await mangled({ drop: 1 });
  expect(await story.picture(0)).not.toEqual(WELL);
  expect(await story.ending()).toEqual(WELL);
});

test('every event comes twice at once: readers are right before any sweep', async () => {
  await mangled({ double: 1 });
  expect(await story.picture()).toEqual(WELL);
  expect(await story.ending()).toEqual(WELL);
});

test('events come in any order within windows of five', async () => {
  await mangled({ reorder: 1 });
  expect(await story.ending()).toEqual(WELL);
});

test('events come after up to twelve of their successors', async () => {
  await mangled({ delay: 0.7 });
  expect(await story.ending()).toEqual(WELL);
});

test('what was forged does not outlive a sweep, and is told', async () => {
  const repairs = async (): Promise<number> => {
    const { healed = 0, unfounded = 0 } = (await rig.status()).events ?? {};
    return healed + unfounded;
  };
  const before = await repairs();
  // The one that takes events at their word.
  await rig.setInstances(2);
  const [, credulous] = rig.instances;
  rig.relay.targets = [credulous?.url ?? ''];
  const real = await rig.kube.get(PODS, { namespace: NAMESPACE, name: 'changed' });
  for (const more of [FUTURE, { name: 'ghost', uid: 'of-nobody' }]) {
    const object = { ...real, metadata: { ...real?.metadata, ...more } };
    expect(await rig.relay.send(updateOf(object))).toBe(204);
  }
  for (const name of ['changed', 'ghost']) rig.relay.slandered.add(`Pod ${NAMESPACE}/${name}`);
  const wrong = async (): Promise<string> => (await rig.differences(0)).join();
  await expect.poll(wrong).toContain('cluster: still has node.n0.pods.default.ghost');
  await expect.poll(wrong).toContain('cluster: has node.n0.pods.default.changed');
  await story.goesOn();
  expect(await story.ending()).toEqual(WELL);
  expect(await repairs()).toBeGreaterThan(before);
});

const FUTURE = { resourceVersion: '1000000000', labels: { forged: 'yes' } };

/** As the adapter would send it. */
const updateOf = (object: object): { headers: Record<string, string>; body: string } => ({
  headers: {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': crypto.randomUUID(),
    'ce-source': '/forger',
    'ce-type': 'dev.knative.apiserver.resource.update',
  },
  body: JSON.stringify(object),
});

test('readers are killed, and resume from what they held', async () => {
  await Promise.all(rig.readers.map((reader) => reader.close()));
  await story.goesOn();
  for (const reader of rig.readers) reader.open('bookmark');
  expect(await story.ending()).toEqual(WELL);
  const resumed = rig.readers.map(({ replica }) => replica.counts);
  expect(resumed.map(({ resumes, snapshots }) => [resumes > 0, snapshots])).toEqual(
    resumed.map(() => [true, 0]),
  );
});

test('readers were away for longer than deletes are kept: they take the snapshot', async () => {
  await Promise.all(rig.readers.map((reader) => reader.close()));
  await story.goesOn();
  await rig.relay.quiet();
  await rig.forgetTombstones();
  for (const reader of rig.readers) reader.open('bookmark');
  expect(await story.picture()).toEqual(WELL);
  expect(rig.readers.map(({ replica }) => replica.counts.snapshots)).toEqual(
    rig.readers.map(() => 1),
  );
});
