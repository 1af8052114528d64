// A line through measured points: what one more of something costs.

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** By least squares. */
export function slope(points: readonly Point[]): number {
  const mean = (of: (point: Point) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)];
  const along = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0);
  const across = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
  return along / across;
}

/** The value that a share of all is not above: nearest rank. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
