// What a running cluster goes through at its owner's wish, with publishers and a durable consumer
// on a stream of three replicas all the while: nothing that was acknowledged is lost.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { Place } from './place.ts';
import { reported } from './report.ts';
import {
  reloadAccounts,
  rollOutImage,
  scaleBackToThree,
  scaleToFive,
  startTraffic,
} from './scenarios.ts';
import { OLD_IMAGE, SCENARIO_MS } from './scene.ts';
import type { Traffic } from './traffic.ts';

let place: Place;
let ours: RunningFunction;
let traffic: Traffic;
const cluster = { namespace: 'shop', name: 'nats' };
const stage = () => ({ place, ours, cluster });

beforeAll(async () => {
  place = await Place.start();
  await place.namespace('shop');
  ours = await place.startFunction();
  await place.create(cluster, {
    image: OLD_IMAGE,
    jetStream: { fileStorage: { size: '1Gi' } },
    lameDuck: { graceSeconds: 1 },
  });
  await place.tickUntilReady(ours, cluster);
}, SCENARIO_MS);

afterAll(async () => {
  await place?.stop();
});

beforeEach(async ({ task }) => {
  const stream = `S${task.id.replaceAll(/\W/g, '')}`;
  traffic = await startTraffic({ place, cluster }, { stream });
}, SCENARIO_MS);

afterEach(async ({ task }) => {
  reported(task.name, await traffic.stop());
}, SCENARIO_MS);

const settings = { timeout: SCENARIO_MS };

test('an image is rolled out one server at a time, the meta leader last', settings, async () => {
  expect(await rollOutImage(stage())).toEqual(['2.15.2', '2.15.2', '2.15.2']);
});

test('a changed account is reloaded, and no pod is made anew', settings, async () => {
  // A kubelet takes up to a minute and a half until a changed Secret is in the pods.
  place.kubelet.syncDelayMs = 3_000;
  const { before, after } = await reloadAccounts(stage());
  expect(after).toEqual(before);
});

test(
  'three servers become five and three again, and streams go where they may',
  settings,
  async () => {
    await scaleToFive(stage());
    const claims = await scaleBackToThree(stage(), 5);
    expect(claims).toEqual(['data-nats-0', 'data-nats-1', 'data-nats-2']);
  },
);
