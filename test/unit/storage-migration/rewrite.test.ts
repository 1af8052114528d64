// The outcome of one write of an object, by the API server's answer and by the object after it, as
// a table. Answers are put in by hand: no API server loses managedFields on demand.
import { expect, test } from 'vitest';
import { Pace } from '../../../functions/storage-migration/pace.ts';
import { rewrite } from '../../../functions/storage-migration/rewrite.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { errorFromAnswer, readStatus } from '../../../shared/kube/errors.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { HandClock } from '../../builders/hand-clock.ts';

const REF = { group: 'example.com', version: 'v1', resource: 'widgets' };
const ABOUT = { verb: 'patch', ref: REF, name: 'w' } as const;

const object = (metadata: object = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', uid: 'u1', resourceVersion: '1', managedFields: [{}], ...metadata },
});

const refusal = (code: number, reason: string, message = 'No.') =>
  errorFromAnswer(ABOUT, readStatus(code, JSON.stringify({ reason, message })));

interface World {
  /** To one write after the other; the last one to all that follow. */
  readonly answers: readonly (KubeObject | Error)[];
  /** The object when it is read again. */
  readonly found?: KubeObject | null | Error | (() => KubeObject);
  readonly endsAtMs?: number;
  readonly loss?: { readonly reason: string; readonly message: string };
}

async function write({ answers, found = object(), endsAtMs = 60_000, loss }: World) {
  let tries = 0;
  const kube = {
    apply: async () => {
      const answer = answers[Math.min(tries, answers.length - 1)];
      tries += 1;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    get: async () => {
      if (found instanceof Error) throw found;
      return typeof found === 'function' ? found() : found;
    },
  } as unknown as KubeClient;
  const clock = new HandClock();
  const pace = new Pace({ concurrency: 4 }, clock);
  const { signal } = new AbortController();
  const bounds = { pace, dryRun: false, clock, endsAtMs, signal };
  const task = { kube, ref: REF, kind: 'Widget', ...bounds, lossOf: async () => loss };
  const rewritten = await rewrite(task, object());
  return { tries, waitedMs: clock.nowMs(), ...rewritten };
}

const AWAY = refusal(500, 'InternalError', 'conversion webhook failed');
const BUSY = refusal(429, 'TooManyRequests');
const MOVED = object({ resourceVersion: '2' });

const ROWS: readonly (readonly [title: string, world: World, outcome: object])[] = [
  ['nothing changed', { answers: [object()] }, { outcome: 'current', tries: 1 }],
  ['something changed', { answers: [MOVED] }, { outcome: 'changed', tries: 1 }],
  [
    'it would lose fields',
    { answers: [MOVED], loss: { reason: 'FieldsWouldBeLost', message: 'Lost.' } },
    { outcome: 'failed', tries: 0, failed: { name: 'w', message: 'Lost.' } },
  ],
  ['it failed once', { answers: [AWAY, MOVED] }, { outcome: 'changed', tries: 2 }],
  ['it failed each time', { answers: [AWAY] }, { outcome: 'failed', tries: 3, cause: AWAY }],
  [
    'it failed, and there is no time left',
    { answers: [AWAY], endsAtMs: -1 },
    { outcome: 'failed', tries: 1, cause: AWAY },
  ],
  ['there was too much to do', { answers: [BUSY, MOVED] }, { outcome: 'changed', waitedMs: 1_000 }],
  [
    'it is denied',
    { answers: [refusal(403, 'Forbidden')] },
    { outcome: 'failed', tries: 1, failed: { name: 'w', reason: 'Forbidden', message: 'No.' } },
  ],
  [
    'it is denied, and is another one by now',
    { answers: [refusal(403, 'Forbidden')], found: object({ uid: 'u2' }) },
    { outcome: 'gone' },
  ],
  [
    'it is denied as a conflict, and is as it was',
    { answers: [refusal(409, 'Conflict')] },
    { outcome: 'failed' },
  ],
  [
    'somebody wrote it, as it is to be stored',
    { answers: [refusal(409, 'Conflict'), MOVED], found: MOVED },
    { outcome: 'current', tries: 2 },
  ],
  [
    'somebody wrote it, and in another version',
    {
      answers: [refusal(409, 'Conflict'), object({ resourceVersion: '3' })],
      found: MOVED,
    },
    { outcome: 'changed', tries: 2 },
  ],
  [
    'a write got no answer, and somebody wrote it: that may have been us',
    { answers: [AWAY, refusal(409, 'Conflict'), MOVED], found: MOVED },
    { outcome: 'changed', tries: 3 },
  ],
  [
    'there was too much to do, and somebody wrote it',
    { answers: [BUSY, refusal(409, 'Conflict'), MOVED], found: MOVED },
    { outcome: 'current', tries: 3 },
  ],
  [
    'somebody deleted it',
    { answers: [refusal(409, 'Conflict')], found: null },
    { outcome: 'gone', tries: 1 },
  ],
  [
    'it is not there, and yet it is',
    { answers: [refusal(404, 'NotFound')] },
    { outcome: 'failed' },
  ],
  [
    'it cannot be read either',
    { answers: [refusal(422, 'Invalid')], found: AWAY },
    { outcome: 'failed' },
  ],
];

test.each(ROWS)('%s', async (_what, world, outcome) => {
  expect(await write(world)).toMatchObject(outcome);
});

test('what somebody writes each time is not written, nor said to be current', async () => {
  let version = 1;
  const found = (): KubeObject => object({ resourceVersion: `${(version += 1)}` });
  const rewritten = await write({ answers: [refusal(409, 'Conflict')], found });
  expect(rewritten).toMatchObject({ outcome: 'conflicts', tries: 5 });
});

test('of a refusal for itself the object is the cause, and not the server', async () => {
  expect(await write({ answers: [refusal(403, 'Forbidden')] })).not.toHaveProperty('cause');
});

test('too much to do until the end of the time is the failure of no object', async () => {
  await expect(write({ answers: [BUSY] })).rejects.toBe(BUSY);
});

test('without the right to write it stops at once, whichever object it is', async () => {
  const message = 'widgets "w" is forbidden: User "b" cannot patch resource "widgets"';
  const answers = [refusal(403, 'Forbidden', message)];
  await expect(write({ answers })).rejects.toMatchObject({ code: 'KUBE_FORBIDDEN' });
});

test('it stops at once when an object comes back without its managedFields', async () => {
  const answers = [object({ resourceVersion: '2', managedFields: [] })];
  await expect(write({ answers })).rejects.toThrow('w came back without its managedFields');
});
