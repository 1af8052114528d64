// Whether sweeps still run: each sweep writes the floor again. The age is counted by this process
// since it received a floor, so clocks of the writer and of this machine do not matter.
import type { Clock } from '../../clock.ts';
import type { Marker } from '../../feed/messages.ts';

export interface SweepState {
  /** When the feed was last swept, as far as is known here, by the clock of this process. */
  readonly sweptAtMs?: number;
  /**
   * True when no sweep came for two periods and a minute: the content may be old, whatever the
   * phase.
   */
  readonly isStale?: true;
}

const SWEEP_SECONDS = 60;
/** Longer than any feed may say; a timer of some weeks would end at once. */
const SWEEP_SECONDS_MAX = 86_400;
const PERIODS_MAX = 2;
/** A sweep takes up to this long. */
const SLACK_MS = 60_000;

export class Sweeps {
  readonly #clock: Clock;
  readonly #tell: (state: SweepState) => void;
  #limitMs = 0;
  #sweptAtMs: number | undefined;
  #countdown = new AbortController();
  #isClosed = false;

  constructor(clock: Clock, tell: (state: SweepState) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** The period in the marker. A reader that has received no sweep yet counts from here. */
  areDue({ sweepSeconds }: Marker): void {
    const isGiven = typeof sweepSeconds === 'number' && sweepSeconds > 0;
    const seconds = isGiven ? Math.min(sweepSeconds, SWEEP_SECONDS_MAX) : SWEEP_SECONDS;
    const limitMs = PERIODS_MAX * seconds * 1_000 + SLACK_MS;
    if (limitMs === this.#limitMs) return;
    this.#limitMs = limitMs;
    this.#countDown(limitMs);
  }

  /** A floor came live. */
  heard(): void {
    this.#saw(0);
  }

  /**
   * The stream has a floor of this age by the clocks of its servers; Infinity when it has none: it
   * expires after three periods. NaN, when they do not say how old it is, counts from now.
   */
  found(ageMs: number): void {
    const age = ageMs > 0 ? ageMs : 0;
    // A floor received meanwhile is newer.
    if (this.#sweptAtMs === undefined || this.#clock.nowMs() - age > this.#sweptAtMs) {
      this.#saw(age);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#countdown.abort();
  }

  #saw(ageMs: number): void {
    if (Number.isFinite(ageMs)) this.#sweptAtMs = this.#clock.nowMs() - ageMs;
    if (ageMs >= this.#limitMs) {
      this.#countdown.abort();
      return this.#report(true);
    }
    this.#report(false);
    this.#countDown(this.#limitMs - ageMs);
  }

  #countDown(ms: number): void {
    this.#countdown.abort();
    if (this.#isClosed) return;
    this.#countdown = new AbortController();
    this.#clock.sleep(ms, this.#countdown.signal).then(
      () => this.#report(true),
      () => undefined,
    );
  }

  #report(isStale: boolean): void {
    const sweptAtMs = this.#sweptAtMs;
    this.#tell({
      ...(sweptAtMs === undefined ? {} : { sweptAtMs }),
      ...(isStale ? { isStale } : {}),
    });
  }
}
