// Whether objects that could not be cleaned can be by now, by what the API server answers to a
// patch that changes nothing.
import { expect, test } from 'vitest';
import type { Deps } from '../../../functions/storage-migration/deps.ts';
import { probeFailed, probeUnclean } from '../../../functions/storage-migration/probe.ts';
import { systemClock } from '../../../shared/clock.ts';
import { errorFromAnswer, readStatus } from '../../../shared/kube/errors.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { target } from './samples.ts';

const TARGET = target();
const ABOUT = { verb: 'patch', ref: TARGET.ref, name: 'w' } as const;
const refusal = (code: number, message: string) =>
  errorFromAnswer(ABOUT, readStatus(code, JSON.stringify({ reason: 'No', message })));
const DENIED = refusal(403, 'It may not change.');
const STALE = refusal(500, 'request to convert CR to an invalid group/version: example.com/v0');
const FAILED = [{ name: 'w', reason: 'Forbidden', message: 'It may not change.' }];

const by = (version: string) => ({ manager: 'ann', apiVersion: `example.com/${version}` });
const object = (...versions: readonly string[]): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', uid: 'u1', resourceVersion: '1', managedFields: versions.map(by) },
});

interface World {
  readonly found?: KubeObject | null;
  readonly patched?: KubeObject | Error;
  readonly applied?: KubeObject | Error;
  /** The object when it is read once more. */
  readonly later?: KubeObject;
}

function task(world: World) {
  const { found = object('v0', 'v1'), patched = object('v1'), applied = STALE, later } = world;
  let reads = 0;
  const kube = {
    get: async () => ((reads += 1) === 1 ? found : (later ?? found)),
    patch: async () => {
      if (patched instanceof Error) throw patched;
      return patched;
    },
    apply: async () => {
      if (applied instanceof Error) throw applied;
      return applied;
    },
  };
  const deps = { kube, clock: systemClock } as unknown as Deps;
  const { signal } = new AbortController();
  return { deps, target: TARGET, acceptedLoss: [], endsAtMs: Infinity, signal };
}

test.each<[title: string, world: World, isHopeful: boolean]>([
  ['it would be cleaned', {}, true],
  ['it is denied still', { patched: DENIED }, false],
  ['it would lose what is to stay', { patched: object() }, false],
  ['it is no more', { found: null }, true],
  ['somebody cleaned it', { found: object('v1'), patched: DENIED }, true],
])('%s', async (_what, world, isHopeful) => {
  expect(await probeUnclean(task(world), FAILED)).toBe(isHopeful);
});

test('an apply would fail in any case, and tells nothing', async () => {
  expect(await probeFailed(task({}), FAILED)).toBe(false);
});

const CONFLICT = errorFromAnswer(
  ABOUT,
  readStatus(409, JSON.stringify({ reason: 'Conflict', message: 'Not now.' })),
);
const MOVED: KubeObject = {
  ...object('v1'),
  metadata: { name: 'w', uid: 'u1', resourceVersion: '2' },
};

test.each<[title: string, world: World, isHopeful: boolean]>([
  ['it would be written', { applied: object('v1') }, true],
  ['somebody writes it at this moment', { applied: CONFLICT, later: MOVED }, true],
  ['an admission webhook calls its refusal a conflict', { applied: CONFLICT }, false],
])('what could not be rewritten: %s', async (_what, world, isHopeful) => {
  expect(await probeFailed(task(world), FAILED)).toBe(isHopeful);
});
