// Requests that are sent again, and when.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  mayRepeat,
  pauseMs,
  type Repeat,
  retryAfterMs,
  type Setback,
} from '../../../shared/kube/retry.ts';

const status = (statusCode: number): Setback => ({ statusCode, retryAfterMs: undefined });
const transport = (transportCode: string): Setback => ({ transportCode });

describe('mayRepeat', () => {
  const rows: readonly [string, Setback, Record<Repeat, boolean>][] = [
    ['429: it was refused before it began', status(429), { always: true, unsent: true }],
    ['503: it may have begun', status(503), { always: true, unsent: false }],
    ['500: it may have begun', status(500), { always: true, unsent: false }],
    ['504: it may have been done', status(504), { always: true, unsent: false }],
    ['409: it will not get better by itself', status(409), { always: false, unsent: false }],
    ['403', status(403), { always: false, unsent: false }],
    ['410', status(410), { always: false, unsent: false }],
    ['501', status(501), { always: false, unsent: false }],
    ['nobody listened', transport('ECONNREFUSED'), { always: true, unsent: true }],
    ['never connected', transport('UND_ERR_CONNECT_TIMEOUT'), { always: true, unsent: true }],
    ['cut in the middle', transport('ECONNRESET'), { always: true, unsent: false }],
    ['closed by the other side', transport('UND_ERR_SOCKET'), { always: true, unsent: false }],
    ['no answer', transport('UND_ERR_HEADERS_TIMEOUT'), { always: true, unsent: false }],
    [
      'a certificate that nobody signed',
      transport('DEPTH_ZERO_SELF_SIGNED_CERT'),
      { always: false, unsent: false },
    ],
  ];
  test.each(rows)('%s', (_, setback, expected) => {
    expect({
      always: mayRepeat(setback, 'always'),
      unsent: mayRepeat(setback, 'unsent'),
    }).toEqual(expected);
  });
});

describe('pauseMs', () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  test('a pause lies between half and the whole of its step, and never beyond ten seconds', () => {
    fc.assert(
      fc.property(fc.nat(60), random, (attempt, value) => {
        const step = Math.min(10_000, 100 * 2 ** attempt);
        const pause = pauseMs(attempt, () => value);
        expect(pause).toBeGreaterThanOrEqual(step / 2);
        expect(pause).toBeLessThanOrEqual(step);
      }),
    );
  });

  test('the server is never asked earlier than it said', () => {
    fc.assert(
      fc.property(fc.nat(20), random, fc.nat(120_000), (attempt, value, serverSays) => {
        expect(pauseMs(attempt, () => value, serverSays)).toBeGreaterThan(serverSays);
      }),
    );
  });
});

describe('retryAfterMs', () => {
  const nowMs = Date.parse('2026-11-21T12:00:00Z');
  const rows: readonly [string | undefined, number | undefined][] = [
    ['1', 1_000],
    ['0', 0],
    ['Sat, 21 Nov 2026 12:00:05 GMT', 5_000],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ];
  test.each(rows)('%s is %s ms', (header, expected) => {
    expect(retryAfterMs(header, nowMs)).toBe(expected);
  });
});
