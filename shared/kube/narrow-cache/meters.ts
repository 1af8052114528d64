// Counters of the narrow cache. It takes the registry by its shape, since the areas of shared/ do
// not import each other.

interface Cell {
  value: number;
}

interface Labels {
  readonly [name: string]: string;
}

/** The part of shared/function/metrics.ts that is used here. */
export interface MeterRegistry {
  counter(
    name: string,
    help: string,
    labelNames?: readonly string[],
  ): { of(labels: Labels): Cell; add(count: number, labels: Labels): void };
  gauge(name: string, help: string): { set(value: number): void };
}

export interface Meters {
  readonly hits: Cell;
  /** Given out while the watch is broken. */
  readonly stale: Cell;
  readonly misses: Cell;
  /** One more connection of a watch, by what ended the one before. */
  restarted(code: string): void;
  /** How long a watch was broken, once it is whole again. */
  mended(brokenMs: number): void;
  ended(reason: 'idle' | 'ceiling'): void;
  holds(entries: number, watches: number): void;
}

export function metersIn(registry: MeterRegistry | undefined): Meters {
  const counter = (name: string, help: string, labelNames: readonly string[] = []) =>
    registry?.counter(`ballast_narrow_cache_${name}`, help, labelNames);
  const gauge = (name: string, help: string) =>
    registry?.gauge(`ballast_narrow_cache_${name}`, help);
  const gets = counter('gets_total', 'Reads of single objects, by where the answer came from.', [
    'answer',
  ]);
  const restarts = counter('restarts_total', 'Watches that began again, by what ended them.', [
    'code',
  ]);
  const broken = counter('broken_seconds_total', 'How long watches were broken that mended.');
  const ends = counter('ends_total', 'Objects that are no longer held, by reason.', ['reason']);
  const entries = gauge('entries', 'Objects that are held.');
  const watches = gauge('watches', 'Objects that are watched at this moment.');
  const answer = (name: string): Cell => gets?.of({ answer: name }) ?? { value: 0 };
  return {
    hits: answer('hit'),
    stale: answer('stale'),
    misses: answer('miss'),
    restarted: (code) => restarts?.add(1, { code }),
    mended: (brokenMs) => broken?.add(brokenMs / 1000, {}),
    ended: (reason) => ends?.add(1, { reason }),
    holds: (held, watched) => {
      entries?.set(held);
      watches?.set(watched);
    },
  };
}
