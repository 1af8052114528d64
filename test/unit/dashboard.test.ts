// The dashboard for Grafana: it is as its panels say, and each panel can be told from the others.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { answer } from '../../knative/tools/dashboard/command.ts';
import { Stale } from '../../knative/tools/generated.ts';
import { dashboardOf } from '../../knative/tools/dashboard/grafana.ts';
import { ROWS } from '../../knative/tools/dashboard/panels.ts';
import { UsageError } from '../../shared/arguments.ts';

const SHIPPED = resolve(import.meta.dirname, '../../knative/dashboards/ballast.json');
const dir = await mkdtemp(join(tmpdir(), 'ballast-dashboard-'));
afterAll(() => rm(dir, { recursive: true }));

interface Placed {
  readonly id: number;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
}

test('what ships is what the panels say', async () => {
  expect(await answer(['--check'])).toContain('as its panels say');
});

test('an older one is refused, and written anew', async () => {
  const file = join(dir, 'ballast.json');
  await expect(answer(['--check'], file)).rejects.toThrow(Stale);
  await answer([], file);
  expect(readFileSync(file, 'utf8')).toBe(readFileSync(SHIPPED, 'utf8'));
  await expect(answer(['more'], file)).rejects.toThrow(UsageError);
});

test('no two panels have an id or a place in common, and none is wider than the page', () => {
  const { panels } = dashboardOf(ROWS) as { readonly panels: readonly Placed[] };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(cells.filter((cell) => Number(cell.split(',')[0]) >= 24)).toEqual([]);
});
