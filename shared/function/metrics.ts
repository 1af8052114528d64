// Counting that costs an addition: instruments are plain numbers until somebody asks for
// /metrics, and only then they are written down (see metrics-page.ts).

export type Labels = Readonly<Record<string, string>>;

/** One series. Keep it and call it; looking it up is what costs. */
export interface Cell {
  readonly labels: Labels;
  value: number;
}

export interface HistogramCell {
  readonly labels: Labels;
  /** Observations up to each bound, not summed up; the last one is beyond all bounds. */
  readonly counts: number[];
  sum: number;
}

/**
 * A label value comes from outside more often than not; beyond this many series the rest is
 * counted together.
 */
const SERIES_MAX = 1_000;
const OVERFLOW = 'other';

class Family<Series extends { readonly labels: Labels }> {
  readonly #labelNames: readonly string[];
  readonly #make: (labels: Labels) => Series;
  readonly #byKey = new Map<string, Series>();

  constructor(labelNames: readonly string[], make: (labels: Labels) => Series) {
    this.#labelNames = labelNames;
    this.#make = make;
  }

  of(labels: Labels): Series {
    const key = this.#keyOf(labels);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    if (this.#byKey.size >= SERIES_MAX) return this.#overflow();
    const made = this.#make(labels);
    this.#byKey.set(key, made);
    return made;
  }

  forget(labels: Labels): void {
    this.#byKey.delete(this.#keyOf(labels));
  }

  all(): Iterable<Series> {
    return this.#byKey.values();
  }

  #keyOf(labels: Labels): string {
    return this.#labelNames.map((name) => labels[name] ?? '').join('\u0000');
  }

  #overflow(): Series {
    const key = this.#labelNames.map(() => OVERFLOW).join('\u0000');
    const labels = Object.fromEntries(this.#labelNames.map((name) => [name, OVERFLOW]));
    const shared = this.#byKey.get(key) ?? this.#make(labels);
    this.#byKey.set(key, shared);
    return shared;
  }
}

abstract class Instrument<Series extends { readonly labels: Labels }> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly #family: Family<Series>;

  constructor(
    name: string,
    help: string,
    labelNames: readonly string[],
    make: (labels: Labels) => Series,
  ) {
    this.name = name;
    this.help = help;
    this.labelNames = labelNames;
    this.#family = new Family(labelNames, make);
  }

  get cells(): Iterable<Series> {
    return this.#family.all();
  }

  of(labels: Labels): Series {
    return this.#family.of(labels);
  }

  /** A series of something that is gone is not shown any more. */
  forget(labels: Labels): void {
    this.#family.forget(labels);
  }
}

const makeCell = (labels: Labels): Cell => ({ labels, value: 0 });

export class Counter extends Instrument<Cell> {
  readonly kind = 'counter';

  constructor(name: string, help: string, labelNames: readonly string[]) {
    super(name, help, labelNames, makeCell);
  }

  add(count: number, labels: Labels = {}): void {
    this.of(labels).value += count;
  }
}

export class Gauge extends Instrument<Cell> {
  readonly kind = 'gauge';

  constructor(name: string, help: string, labelNames: readonly string[]) {
    super(name, help, labelNames, makeCell);
  }

  set(value: number, labels: Labels = {}): void {
    this.of(labels).value = value;
  }
}

export class Histogram extends Instrument<HistogramCell> {
  readonly kind = 'histogram';
  readonly bounds: readonly number[];

  constructor(
    name: string,
    help: string,
    labelNames: readonly string[],
    bounds: readonly number[],
  ) {
    super(name, help, labelNames, (labels) => ({
      labels,
      counts: Array.from({ length: bounds.length + 1 }, () => 0),
      sum: 0,
    }));
    this.bounds = bounds;
  }

  observe(cell: HistogramCell, value: number): void {
    let slot = 0;
    while (slot < this.bounds.length && value > (this.bounds[slot] ?? 0)) slot += 1;
    cell.counts[slot] = (cell.counts[slot] ?? 0) + 1;
    cell.sum += value;
  }
}

export type AnyInstrument = Counter | Gauge | Histogram;

/** Hands out instruments by name; asking twice gives the same one. */
export class Metrics {
  readonly #byName = new Map<string, AnyInstrument>();

  counter(name: string, help: string, labelNames: readonly string[] = []): Counter {
    return this.#once(name, Counter, () => new Counter(name, help, labelNames));
  }

  gauge(name: string, help: string, labelNames: readonly string[] = []): Gauge {
    return this.#once(name, Gauge, () => new Gauge(name, help, labelNames));
  }

  histogram(
    name: string,
    help: string,
    labelNames: readonly string[],
    bounds: readonly number[],
  ): Histogram {
    return this.#once(name, Histogram, () => new Histogram(name, help, labelNames, bounds));
  }

  all(): Iterable<AnyInstrument> {
    return this.#byName.values();
  }

  #once<Kind extends AnyInstrument>(
    name: string,
    kind: abstract new (...args: never[]) => Kind,
    make: () => Kind,
  ): Kind {
    const known = this.#byName.get(name) ?? make();
    if (!(known instanceof kind))
      throw new TypeError(`The metric ${name} already is a ${known.kind}.`);
    this.#byName.set(name, known);
    return known;
  }
}
