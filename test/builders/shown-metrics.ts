// All that a page of metrics would show, as one record by name and labels, for tests of gauges.
import type { Metrics } from '../../shared/function/metrics.ts';

/** Names without the beginning, then the labels: `servers_ready shop/nats`. */
export function shownMetrics(metrics: Metrics, begin: string): Readonly<Record<string, number>> {
  const rows = [...metrics.all()].flatMap(({ name, cells }) =>
    [...cells].flatMap((cell) => {
      if (!name.startsWith(begin) || !('value' in cell)) return [];
      const labels = Object.values(cell.labels).join('/');
      return [[`${name.slice(begin.length)} ${labels}`.trim(), cell.value] as const];
    }),
  );
  return Object.fromEntries(rows);
}
