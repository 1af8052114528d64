// Turns measured pairs into figures, ratios and a verdict. Pure: numbers in, numbers out.

import type { Bench, Figure, Pair, Sample } from './runner.ts';

/**
 * When our side differs this much from itself, the machine was not quiet enough to say anything.
 */
export const controlMax = 0.1;

export interface Spread {
  readonly median: number;
  readonly worst: number;
}

export interface FigureResult {
  readonly figure: Figure;
  readonly ours: Spread;
  readonly against: Spread;
  readonly ratio: Spread;
  /** How far the two runs of our own side lie apart in the median pair: 0.03 is 3 %. */
  readonly control: number;
  readonly verdict: 'pass' | 'fail' | 'void';
}

export function judge(bench: Bench, pairs: readonly Pair[]): FigureResult[] {
  return bench.figures.map((figure) => judgeFigure(figure, pairs));
}

function judgeFigure(figure: Figure, pairs: readonly Pair[]): FigureResult {
  const ours = pairs.map((pair) => valueOf(figure, figure.ours, pair.samples[figure.ours]));
  const against = pairs.map((pair) =>
    valueOf(figure, figure.against, pair.samples[figure.against]),
  );
  const ratios = ours.map((value, index) => value / (against[index] ?? Number.NaN));
  const checked = figure.control === undefined ? figure : { ...figure, sample: figure.control };
  const controls = pairs.map(({ again, samples }) => {
    const second = valueOf(checked, figure.ours, again[figure.ours]);
    return second / valueOf(checked, figure.ours, samples[figure.ours]);
  });
  const ratio = spread(ratios, figure.better);
  const control = Math.abs(median(controls) - 1);
  const meets =
    figure.better === 'higher' ? ratio.median >= figure.limit : ratio.median <= figure.limit;
  // A number that is not one must never pass: !(x <= max) holds for NaN as well.
  const isVoid = !(control <= controlMax) || !Number.isFinite(ratio.median);
  return {
    figure,
    ours: spread(ours, figure.better),
    against: spread(against, figure.better),
    ratio,
    control,
    verdict: isVoid ? 'void' : meets ? 'pass' : 'fail',
  };
}

function valueOf(figure: Figure, side: string, sample: Sample | undefined): number {
  const value = sample?.[figure.sample ?? figure.name];
  if (value === undefined) {
    throw new Error(`The side ${side} gave no value for the figure ${figure.name}.`);
  }
  return value;
}

function spread(values: readonly number[], better: Figure['better']): Spread {
  const worst = better === 'higher' ? Math.min(...values) : Math.max(...values);
  return { median: median(values), worst };
}

export function median(values: readonly number[]): number {
  // It has no place in an order, so the middle of the others would be chosen by chance.
  if (values.some(Number.isNaN)) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const low = sorted[Math.floor((sorted.length - 1) / 2)];
  const high = sorted[Math.ceil((sorted.length - 1) / 2)];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}
