// The dashboard in Grafana's model: what all panels share stands here once.
import type { Panel, Row } from './panel.ts';

/** The grid has 24 columns. */
const WIDTH = 24;
const IN_A_ROW = 3;
const HEIGHTS = { table: 7, stat: 4, timeseries: 7 } as const;
const SOURCE = { type: 'prometheus', uid: '${datasource}' };

export function dashboardOf(rows: readonly Row[]): object {
  return {
    uid: 'ballast',
    title: 'Ballast',
    description: 'What Ballast keeps, and whether anything is wrong with it.',
    tags: ['ballast'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: [variable] },
    panels: placed(rows),
  };
}

const variable = {
  name: 'datasource',
  label: 'Prometheus',
  type: 'datasource',
  query: 'prometheus',
};

function placed(rows: readonly Row[]): readonly object[] {
  const panels: object[] = [];
  let y = 0;
  let id = 0;
  for (const row of rows) {
    const head = { type: 'row', title: row.title, collapsed: false, panels: [] };
    panels.push({ ...head, id: (id += 1), gridPos: { x: 0, y, w: WIDTH, h: 1 } });
    y += 1;
    for (const { line, height } of linesOf(row.panels)) {
      const w = WIDTH / line.length;
      for (const [at, panel] of line.entries()) {
        const gridPos = { x: at * w, y, w, h: height };
        panels.push({ ...rendered(panel), id: (id += 1), gridPos });
      }
      y += height;
    }
  }
  return panels;
}

interface Line {
  readonly line: readonly Panel[];
  readonly height: number;
}

/** A table has a line of its own; numbers share one, and charts three at a time. */
function linesOf(panels: readonly Panel[]): readonly Line[] {
  const of = (type: Panel['type']) => panels.filter((panel) => panel.type === type);
  const charts = of('timeseries');
  const chartLines = Array.from({ length: Math.ceil(charts.length / IN_A_ROW) }, (_, at) =>
    charts.slice(at * IN_A_ROW, (at + 1) * IN_A_ROW),
  );
  return [
    ...of('table').map((table) => ({ line: [table], height: HEIGHTS.table })),
    ...(of('stat').length === 0 ? [] : [{ line: of('stat'), height: HEIGHTS.stat }]),
    ...chartLines.map((line) => ({ line, height: HEIGHTS.timeseries })),
  ];
}

function rendered({ title, type, unit, says, queries, wrongFrom }: Panel): object {
  const isNow = type !== 'timeseries';
  return {
    type,
    title,
    description: says,
    datasource: SOURCE,
    fieldConfig: { defaults: { unit, ...thresholds(wrongFrom) }, overrides: [] },
    targets: queries.map(({ expr, legend }, at) => ({
      refId: String.fromCodePoint(65 + at),
      datasource: SOURCE,
      expr,
      ...(legend === undefined ? {} : { legendFormat: legend }),
      ...(isNow ? { instant: true, format: type === 'table' ? 'table' : 'time_series' } : {}),
    })),
  };
}

function thresholds(wrongFrom: number | undefined): object {
  if (wrongFrom === undefined) return {};
  const steps = [
    { color: 'green', value: null },
    { color: 'red', value: wrongFrom },
  ];
  return { thresholds: { mode: 'absolute', steps } };
}
