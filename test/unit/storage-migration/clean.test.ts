// The outcome of cleaning one object, by the API server's answers and by others' writes, as a
// table. Answers are put in by hand: no API server loses managedFields on demand.
import { expect, test } from 'vitest';
import { clean } from '../../../functions/storage-migration/clean.ts';
import { Pace } from '../../../functions/storage-migration/pace.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { errorFromAnswer, readStatus } from '../../../shared/kube/errors.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import type { WriteOptions } from '../../../shared/kube/writes.ts';
import { target } from './samples.ts';

const TARGET = target();
const ABOUT = { verb: 'patch', ref: TARGET.ref, name: 'w' } as const;

const by = (manager: string, version: string) => ({
  manager,
  operation: 'Apply',
  apiVersion: `example.com/${version}`,
});
const [STALE, GOOD, MORE] = [by('ann', 'v0'), by('bob', 'v1'), by('eve', 'v1')];

const object = (metadata: object = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: {
    name: 'w',
    uid: 'u1',
    resourceVersion: '1',
    managedFields: [STALE, GOOD],
    ...metadata,
  },
});

const refusal = (code: number, reason: string) =>
  errorFromAnswer(ABOUT, readStatus(code, JSON.stringify({ reason, message: 'No.' })));

const CLEANED = object({ resourceVersion: '2', managedFields: [GOOD] });
const EMPTY = object({ resourceVersion: '2', managedFields: [] });
/** A test of the patch failed. */
const MOVED = refusal(422, 'Invalid');

interface World {
  readonly seen?: KubeObject;
  /** To one question after the other, and to one write after the other; the last one for ever. */
  readonly dry?: readonly (KubeObject | Error)[];
  readonly wet?: readonly (KubeObject | Error)[];
  /** The object when it is read again. */
  readonly found?: readonly (KubeObject | null)[];
}

async function run({ seen = object(), dry = [CLEANED], wet = [CLEANED], found = [] }: World) {
  const [counts, sent] = [{ dry: 0, wet: 0, found: 0 }, [] as unknown[]];
  const next = <Answer>(call: keyof typeof counts, answers: readonly Answer[]): Answer => {
    const answer = answers[Math.min(counts[call], answers.length - 1)] as Answer;
    counts[call] += 1;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const kube = {
    patch: async (_ref: unknown, _name: unknown, patch: unknown, { dryRun }: WriteOptions) => {
      if (dryRun !== true) sent.push(patch);
      return dryRun === true ? next('dry', dry) : next('wet', wet);
    },
    get: async () => next('found', found),
  } as unknown as KubeClient;
  const clock = systemClock;
  const pace = new Pace({ concurrency: 4 }, clock);
  const { signal } = new AbortController();
  const { ref, kind } = TARGET;
  const bounds = { pace, clock, endsAtMs: Infinity, signal };
  const task = { kube, target: TARGET, ref, kind, dryRun: false, ...bounds };
  return { ...(await clean(task, seen)), sent, writes: counts.wet };
}

const newer = (managedFields: readonly object[]) => object({ resourceVersion: '7', managedFields });

const ROWS: readonly (readonly [call: string, world: World, outcome: object])[] = [
  ['it is cleaned', {}, { outcome: 'changed', writes: 1 }],
  ['there is nothing to clean', { seen: CLEANED }, { outcome: 'current', writes: 0 }],
  [
    'what is to stay would go, so nothing is written',
    { dry: [EMPTY] },
    { outcome: 'failed', writes: 0, failed: { name: 'w', reason: 'ManagedFieldsWouldBeLost' } },
  ],
  [
    'it is refused, so nothing is written',
    { dry: [refusal(403, 'Forbidden')], found: [object()] },
    { outcome: 'failed', writes: 0, failed: { reason: 'Forbidden' } },
  ],
  [
    'somebody wrote it, and it is looked at again',
    { wet: [MOVED, CLEANED], found: [newer([STALE, GOOD])] },
    { outcome: 'changed', writes: 2 },
  ],
  [
    'somebody cleaned it meanwhile',
    { dry: [MOVED], found: [newer([GOOD])] },
    { outcome: 'current', writes: 0 },
  ],
  [
    'somebody deleted it meanwhile',
    { wet: [MOVED], found: [newer([STALE, GOOD]), null] },
    { outcome: 'gone', writes: 2 },
  ],
];

test.each(ROWS)('%s', async (_what, world, outcome) => {
  expect(await run(world)).toMatchObject(outcome);
});

test('who writes it each time is named after some looks', async () => {
  const versions = Array.from({ length: 20 }, (_, index) =>
    object({ resourceVersion: `${index + 2}` }),
  );
  const failed = { name: 'w', reason: 'Conflict', message: 'Somebody writes it all the time.' };
  expect(await run({ wet: [MOVED], found: versions })).toMatchObject({ outcome: 'failed', failed });
});

test('what is sent names the object as it was seen last, and what stays of it then', async () => {
  const found = [newer([STALE, GOOD, MORE]), newer([STALE, GOOD, MORE])];
  const cleaned = newer([GOOD, MORE]);
  const { sent } = await run({ dry: [CLEANED, cleaned], wet: [MOVED, cleaned], found });
  const bodyOf = (resourceVersion: string, entries: readonly object[]) => ({
    type: 'json',
    body: [
      { op: 'test', path: '/metadata/uid', value: 'u1' },
      { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'replace', path: '/metadata/managedFields', value: entries },
    ],
  });
  expect(sent).toEqual([bodyOf('1', [GOOD]), bodyOf('7', [GOOD, MORE])]);
});

test('it stops at once when an object comes back with fewer entries than were meant', async () => {
  await expect(run({ wet: [EMPTY] })).rejects.toThrow('w came back without its managedFields');
});
