// Events about what was not delivered, as console tells them.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/console/decide.ts';
import type { LettersObservation } from '../../../functions/console/observe.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';

const NOW = Date.parse('2026-11-27T12:00:00Z');
const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString();
const NOTE = 'The function metadata did not take the event x, and nobody sends it again.';

const event = (more: object): KubeObject =>
  ({
    metadata: { namespace: 'ballast-system', name: 'dead-letter.1', uid: 'u' },
    regarding: { kind: 'Broker', namespace: 'ballast-system', name: 'ballast' },
    note: NOTE,
    ...more,
  }) as unknown as KubeObject;

const decided = (letters: LettersObservation) =>
  decide({ nowMs: NOW, kinds: [], letters, replica: { phase: 'current', version: 1 } });
const told = (...events: readonly KubeObject[]) => decided({ events });

test('a letter is told once, with what was said of it, and since when', () => {
  expect(told(event({ eventTime: ago(60) }))).toMatchObject([
    {
      severity: 'warning',
      kind: 'Broker',
      namespace: 'ballast-system',
      name: 'ballast',
      says: `Once: ${NOTE}`,
      since: ago(60),
    },
  ]);
});

test('several of one cause say how many they are, and when the last one was', () => {
  const series = { count: 12, lastObservedTime: ago(30) };
  const [first] = told(event({ eventTime: ago(3_000), series }));
  expect(first).toMatchObject({ severity: 'warning', since: ago(3_000) });
  expect(first?.says).toBe(`12 times, last at ${ago(30)}: ${NOTE}`);
});

test('a quarter of an hour after the last one it is a note, and no part of the verdict', () => {
  const severities = [899, 900].map((seconds) => {
    const series = { count: 2, lastObservedTime: ago(seconds) };
    return told(event({ eventTime: ago(3_000), series }))[0]?.severity;
  });
  expect(severities).toEqual(['warning', 'note']);
});

test('Events that cannot be read are no good news', () => {
  expect(decided({ events: [], failure: 'It is forbidden.' })).toMatchObject([
    { severity: 'unknown', reason: 'NotRead', says: 'It is forbidden.' },
  ]);
});

test('an Event may hold anything, and is short on the page', () => {
  const long = 'x'.repeat(100_000);
  const hostile = [
    event({ note: long, regarding: { namespace: long, name: long } }),
    event({ note: { a: 1 }, regarding: null, eventTime: 'yesterday', series: [] }),
    event({ eventTime: long, series: { count: long, lastObservedTime: long } }),
  ];
  const all = told(...hostile);
  expect(all.map(({ severity }) => severity)).toEqual(['note', 'note', 'note']);
  expect(JSON.stringify(all).length).toBeLessThan(6_000);
  expect(all[1]).toMatchObject({ says: 'Once: ', name: '' });
});
