// Shared by all requests of one running function: its definition, `deps`, clock, log, counters and
// admission.
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Failure, FailureKind } from '../errors.ts';
import type { Behaviour } from './define.ts';
import { Admission } from './admission.ts';
import { Intake } from './intake.ts';
import type { Cell, Counter, Gauge, Histogram, HistogramCell, Metrics } from './metrics.ts';
import { Outbox } from './outbox.ts';
import {
  ARRIVING_MAX,
  HELD_BYTES_MAX,
  type RuntimeConfig,
  UNREAD_BYTES_MAX,
} from './runtime-config.ts';
import type { Senders } from './senders/senders.ts';

export interface BuildInfo {
  readonly version: string;
  /** Empty when it was not built from a git checkout. */
  readonly commit: string;
}

export type Outcome = 'done' | 'replied' | 'gone' | FailureKind;

/** From a handler that only looked, to one that used its whole deadline. */
const DURATION_BOUNDS_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/**
 * Counts all types that this function does not wake on: else senders could create series without
 * end.
 */
const UNKNOWN_TYPE = 'unknown';

interface TypeCells {
  readonly outcomes: Map<Outcome, Cell>;
  readonly duration: HistogramCell;
}

export interface RuntimeParts<Deps> {
  readonly definition: Behaviour<Deps>;
  readonly deps: Deps;
  readonly config: RuntimeConfig;
  readonly senders: Senders;
  readonly build: BuildInfo;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export class Runtime<Deps> {
  readonly definition: Behaviour<Deps>;
  readonly wakesOn: ReadonlySet<string>;
  readonly deps: Deps;
  readonly build: BuildInfo;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly admission: Admission;
  readonly intake: Intake;
  readonly outbox = new Outbox(UNREAD_BYTES_MAX);
  readonly senders: Senders;
  readonly #failures: Counter;
  readonly #routes: Counter;
  readonly #routeDurations: Histogram;
  readonly #inFlight: Gauge;
  readonly #events: Counter;
  readonly #durations: Histogram;
  readonly #byType = new Map<string, TypeCells>();

  constructor(parts: RuntimeParts<Deps>) {
    const { definition, config, build, metrics } = parts;
    this.definition = definition;
    this.wakesOn = new Set(definition.wakesOn);
    this.deps = parts.deps;
    this.build = build;
    this.clock = parts.clock;
    this.log = parts.log;
    this.metrics = metrics;
    this.senders = parts.senders;
    this.admission = new Admission(parts.clock, config.concurrencyMax, config.deadlineMs);
    this.intake = new Intake(parts.clock, {
      countMax: ARRIVING_MAX,
      heldBytesMax: heldBytesMax(definition, config),
    });
    this.#events = metrics.counter('ballast_events_total', 'Events by type and outcome.', [
      'type',
      'outcome',
    ]);
    this.#durations = metrics.histogram(
      'ballast_event_duration_seconds',
      'From the admission of an event to its answer.',
      ['type'],
      DURATION_BOUNDS_SECONDS,
    );
    this.#failures = metrics.counter(
      'ballast_failures_total',
      'Failed requests by kind and code.',
      ['kind', 'code'],
    );
    this.#routes = metrics.counter('ballast_route_requests_total', 'Route calls by outcome.', [
      'route',
      'outcome',
    ]);
    this.#routeDurations = metrics.histogram(
      'ballast_route_duration_seconds',
      'From the admission of a route call to its answer.',
      ['route'],
      DURATION_BOUNDS_SECONDS,
    );
    this.#inFlight = metrics.gauge('ballast_requests_in_flight', 'Requests being worked on now.');
    const labels = { function: definition.name, ...build, node: process.version };
    metrics
      .gauge('ballast_build_info', 'What runs here; the value is always 1.', Object.keys(labels))
      .set(1, labels);
  }

  countEvent(type: string | undefined, outcome: Outcome, tookMs: number): void {
    const label = type !== undefined && this.wakesOn.has(type) ? type : UNKNOWN_TYPE;
    const cells = this.#cellsOf(label);
    let cell = cells.outcomes.get(outcome);
    if (cell === undefined) {
      cell = this.#events.of({ type: label, outcome });
      cells.outcomes.set(outcome, cell);
    }
    cell.value += 1;
    this.#durations.observe(cells.duration, tookMs / 1_000);
  }

  countRoute(route: string, outcome: Outcome, tookMs: number): void {
    this.#routes.add(1, { route, outcome });
    this.#routeDurations.observe(this.#routeDurations.of({ route }), tookMs / 1_000);
  }

  countFailure({ kind, code }: Failure): void {
    this.#failures.add(1, { kind, code });
  }

  /** For what is cheaper to look at once per scrape than to keep up per request. */
  readGauges(): void {
    this.#inFlight.set(this.admission.inFlight);
  }

  #cellsOf(type: string): TypeCells {
    const known = this.#byType.get(type);
    if (known !== undefined) return known;
    const made = { outcomes: new Map<Outcome, Cell>(), duration: this.#durations.of({ type }) };
    this.#byType.set(type, made);
    return made;
  }
}

/** A route that takes files needs room for as many as are worked on at once. */
function heldBytesMax<Deps>(
  { routes = [] }: Behaviour<Deps>,
  { concurrencyMax }: Pick<RuntimeConfig, 'concurrencyMax'>,
): number {
  const files = routes.map(({ takesFile }) => takesFile?.sizeBytesMax ?? 0);
  return Math.max(HELD_BYTES_MAX, ...files.map((sizeBytes) => sizeBytes * concurrencyMax));
}
