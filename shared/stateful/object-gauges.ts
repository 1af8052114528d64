// Gauges by object: what is shown of one is forgotten once it is gone, so that it is no alert.
import type { Gauge, Labels, Metrics } from '../function/metrics.ts';

export class ObjectGauges<Name extends string> {
  readonly #gauges: ReadonlyMap<string, Gauge>;
  readonly #shown = new Map<string, Labels>();

  constructor(
    metrics: Metrics,
    labelNames: readonly string[],
    help: Readonly<Record<Name, string>>,
  ) {
    const all = Object.entries<string>(help);
    this.#gauges = new Map(
      all.map(([name, text]) => [name, metrics.gauge(name, text, labelNames)] as const),
    );
  }

  /** Labels name the object, and never change. Undefined for what cannot be said of it. */
  show(uid: string, labels: Labels, values: Readonly<Record<Name, number | undefined>>): void {
    this.#shown.set(uid, labels);
    for (const [name, value] of Object.entries<number | undefined>(values)) {
      const gauge = this.#gauges.get(name);
      if (value === undefined) gauge?.forget(labels);
      else gauge?.set(value, labels);
    }
  }

  keepOnly(uids: ReadonlySet<string>): void {
    for (const [uid, labels] of this.#shown) {
      if (uids.has(uid)) continue;
      this.#shown.delete(uid);
      this.#forget(labels);
    }
  }

  #forget(labels: Labels): void {
    for (const gauge of this.#gauges.values()) gauge.forget(labels);
  }
}
