// docs/metrics.md against the code: its lists, and that whatever names a metric names one that
// there is.
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { collectMetrics } from '../../knative/tools/metrics/collect.ts';
import { answer } from '../../knative/tools/metrics/command.ts';
import { Stale } from '../../knative/tools/generated.ts';
import { sectionsOf } from '../../knative/tools/metrics/sections.ts';
import { Metrics } from '../../shared/function/metrics.ts';
import { UsageError } from '../../shared/arguments.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = join(ROOT, 'docs/metrics.md');
const page = readFileSync(PAGE, 'utf8');
const collected = await collectMetrics();
const names = collected.metrics.map(({ instrument }) => instrument.name);
const dir = await mkdtemp(join(tmpdir(), 'ballast-metrics-'));
afterAll(() => rm(dir, { recursive: true }));

/** A histogram is asked for by its parts. */
const SUFFIX = /_(bucket|sum|count)$/;
const isMetric = (name: string): boolean =>
  names.includes(name) || names.includes(name.replace(SUFFIX, ''));

const namedIn = (text: string): readonly string[] => [
  ...new Set(text.match(/\bballast_[a-z]+_[a-z_]*[a-z]\b/g)),
];

test('the page has the metrics that there are', async () => {
  expect(await answer(['--check'])).toContain('has the metrics');
});

test('a page that has others is refused, and written anew with the words around', async () => {
  const path = join(dir, 'page.md');
  const stale = page.replace('`ballast_feed_stale`', '`ballast_feed_old`');
  await writeFile(path, `Mine.\n${stale}\nMine too.\n`);
  await expect(answer(['--check'], path)).rejects.toThrow(Stale);
  expect(readFileSync(path, 'utf8')).toContain('ballast_feed_old');
  await answer([], path);
  expect(readFileSync(path, 'utf8')).toBe(`Mine.\n${page}\nMine too.\n`);
  await writeFile(path, 'No place for tables.');
  await expect(answer([], path)).rejects.toThrow('lacks the lines');
});

test.each([[['more']], [['--chek']]])('%j is refused', async (args) => {
  await expect(answer(args)).rejects.toThrow(UsageError);
});

test('a metric of no domain is told, and not left out', () => {
  const instrument = new Metrics().counter('ballast_stray_total', 'Help.');
  const metrics = [{ instrument, functions: ['locate'] }];
  expect(() => sectionsOf({ functions: [], metrics })).toThrow('ballast_stray_total');
});

const filesIn = (folder: string, end: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end))
    .map((name) => join(folder, name));

test('whatever a file of the code calls a metric is one, or how some begin', () => {
  const files = [...filesIn('functions', '.ts'), ...filesIn('shared', '.ts')];
  const strange = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/['`](ballast_[a-z_]+)/g)]
      .map(([, name = '']) => name)
      .filter((name) => !names.some((one) => one === name || one.startsWith(name))),
  );
  expect(strange).toEqual([]);
});

test.each([
  ...filesIn('docs', '.md'),
  ...filesIn('knative', '.yaml'),
  'knative/dashboards/ballast.json',
  'README.md',
])('%s names no metric that there is not', (file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  expect(namedIn(text).filter((name) => !isMetric(name))).toEqual([]);
});

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

const { spec } = parse(readFileSync(join(ROOT, 'knative/alerts/prometheus-rule.yaml'), 'utf8')) as {
  readonly spec: { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
};
const rules = spec.groups.flatMap((group) => group.rules);

test.each(rules)('the page explains alert $alert, which asks for a metric', ({ alert, expr }) => {
  expect(page).toContain(`| \`${alert}\` |`);
  expect(namedIn(expr)).not.toEqual([]);
});

test('the page explains no alert that there is not', () => {
  const [, section = ''] = page.split('\n## Alerts\n');
  const [own = ''] = section.split('\n## ');
  const told = [...own.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
  expect(told.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});
