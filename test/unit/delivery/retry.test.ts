// How often and how long after each other a delivery is tried, with a clock that only counts.
import { expect, test } from 'vitest';
import {
  type Attempt,
  type RetryRules,
  brokerRules,
  sendWithRetries,
  sourceRules,
} from '../../../knative/try/local/delivery/retry.ts';
import type { Clock } from '../../../shared/clock.ts';

const answered = (status: number): Attempt => ({ status, rawHeaders: [], body: Buffer.alloc(0) });

/** Answers in this order, the last one for ever; returns the pauses in between. */
async function pausesOf(rules: RetryRules, statuses: readonly number[]) {
  const pauses: number[] = [];
  const clock: Clock = { nowMs: () => 0, sleep: async (ms) => void pauses.push(ms) };
  let tries = 0;
  let retries = 0;
  const attempt = await sendWithRetries(
    async () => answered(statuses[Math.min(tries++, statuses.length - 1)] ?? 0),
    rules,
    { clock, signal: new AbortController().signal, onRetry: () => void (retries += 1) },
  );
  return { status: attempt.status, tries, retries, pauses };
}

test('exponential backoff doubles, beginning with the delay itself', async () => {
  const rules = brokerRules({ retries: 4, backoff: { policy: 'exponential', delayMs: 200 } });
  expect(await pausesOf(rules, [503])).toEqual({
    status: 503,
    tries: 5,
    retries: 4,
    pauses: [200, 400, 800, 1_600],
  });
});

test('linear backoff grows by the delay, beginning with no pause at all', async () => {
  const rules = brokerRules({ retries: 4, backoff: { policy: 'linear', delayMs: 500 } });
  expect((await pausesOf(rules, [500])).pauses).toEqual([0, 500, 1_000, 1_500]);
});

test('retries without a backoff follow at once', async () => {
  expect((await pausesOf(brokerRules({ retries: 2 }), [0])).pauses).toEqual([0, 0]);
});

test('without retries there is one try', async () => {
  expect(await pausesOf(brokerRules({ retries: 0 }), [503])).toMatchObject({
    tries: 1,
    pauses: [],
  });
});

test('the first success ends it', async () => {
  const result = await pausesOf(brokerRules({ retries: 9 }), [503, 429, 204]);
  expect(result).toMatchObject({ status: 204, tries: 3, retries: 2 });
});

test('a final answer after a retried one ends it too', async () => {
  const result = await pausesOf(brokerRules({ retries: 9 }), [503, 422, 204]);
  expect(result).toMatchObject({ status: 422, tries: 2 });
});

test('a source tries six times within 3.1 s', async () => {
  const { tries, pauses } = await pausesOf(sourceRules, [503]);
  expect(tries).toBe(6);
  expect(pauses.reduce((sum, ms) => sum + ms)).toBe(3_100);
});

test.each([500, 408, 409, 400, 501])('a source gives up at once at %d', async (status) => {
  expect((await pausesOf(sourceRules, [status])).tries).toBe(1);
});

test.each([0, 404, 413, 425, 429, 502, 503, 504])('a source tries again at %d', async (status) => {
  expect((await pausesOf(sourceRules, [status, 202])).tries).toBe(2);
});

test('an abort during a pause ends the waiting', async () => {
  const end = new AbortController();
  const clock: Clock = {
    nowMs: () => 0,
    sleep: (_ms, signal) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
        end.abort(new Error('the process ends'));
      }),
  };
  const sent = sendWithRetries(async () => answered(503), sourceRules, {
    clock,
    signal: end.signal,
    onRetry: () => undefined,
  });
  await expect(sent).rejects.toThrow('the process ends');
});
