// A panel of the dashboard, and the words in which panels are written. Functions sleep, so a metric
// of an object is asked for as its newest value of a while.

export type Unit = 'short' | 's' | 'bytes' | 'reqps';

export interface Query {
  readonly expr: string;
  /** In Grafana's notation; a query without one shows a single number. */
  readonly legend?: string;
  /** Nothing answers it while all is well. */
  readonly isSilentWhenWell?: boolean;
}

export interface Panel {
  readonly title: string;
  readonly type: 'stat' | 'timeseries' | 'table';
  readonly unit: Unit;
  readonly says: string;
  readonly queries: readonly Query[];
  /** A stat is red from here on. */
  readonly wrongFrom?: number;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Instances that are awake at once agree, but for the one that looked last. */
export const newest = (labels: string, metric: string, within = '10m'): string =>
  `max by (${labels}) (last_over_time(ballast_${metric}[${within}]))`;

export const age = (labels: string, metric: string): string =>
  `time() - (${newest(labels, metric, '1h')} > 0)`;

export const left = (labels: string, metric: string): string =>
  `${newest(labels, metric, '1h')} - time()`;

/** How many objects it holds for; 0 too, so that nothing is told from nobody asked. */
export const howMany = (condition: string): string => `count(${condition}) or vector(0)`;

export const count = (title: string, says: string, condition: string): Panel => ({
  title,
  type: 'stat',
  unit: 'short',
  says,
  queries: [{ expr: howMany(condition) }],
  wrongFrom: 1,
});

export const lines = (
  title: string,
  unit: Unit,
  says: string,
  ...queries: readonly (readonly [legend: string, expr: string])[]
): Panel => ({
  title,
  type: 'timeseries',
  unit,
  says,
  queries: queries.map(([legend, expr]) => ({ legend, expr })),
});
