// Tells of dead letters: a problem for each cause, with how often and when last. The next sweep
// makes up for each of them, so an old one is worth a note alone. Pure.
import type { KubeObject } from '../../shared/kube/objects.ts';
import { NOT_DELIVERED } from '../../shared/kube/not-delivered.ts';
import type { Problem } from './answers.ts';
import { short, textAt } from './field-of.ts';

/** Sweeps come each minute; what fails for longer than this goes on failing. */
const RECENT_MS = 15 * 60_000;
const COUNT_CHARS_MAX = 12;
const NEXT =
  'Look at the log of that function, and whether its sweeps succeed: they do what the event asked' +
  ' for. kubectl events -A --types=Warning names the objects.';
export const ABOUT_LETTERS = {
  kind: 'Broker',
  docs: 'docs/install.md#when-something-is-not-delivered',
};

export function aboutLetter(event: KubeObject, nowMs: number): Problem {
  const since = momentAt(event, 'eventTime');
  const last = momentAt(event, 'series.lastObservedTime') ?? since;
  const count = textAt(event, 'series.count').slice(0, COUNT_CHARS_MAX) || '1';
  const isRecent = last !== undefined && nowMs - Date.parse(last) < RECENT_MS;
  const often = count === '1' ? 'Once' : `${count} times, last at ${last ?? 'an unknown time'}`;
  return {
    ...ABOUT_LETTERS,
    severity: isRecent ? 'warning' : 'note',
    namespace: short(textAt(event, 'regarding.namespace')),
    name: short(textAt(event, 'regarding.name')),
    reason: NOT_DELIVERED,
    says: short(`${often}: ${textAt(event, 'note')}`),
    next: NEXT,
    ...(since === undefined ? {} : { since }),
  };
}

/** A time as it is compared and shown elsewhere, of whatever stands there. */
function momentAt(event: KubeObject, path: string): string | undefined {
  const atMs = Date.parse(textAt(event, path));
  return Number.isNaN(atMs) ? undefined : new Date(atMs).toISOString();
}
