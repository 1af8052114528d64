// The alerts as Prometheus reads them: each fires when it is to, with the words that people get,
// and stays silent else. And how they and the dashboard are installed.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { CASES, type AlertCase } from './cases.ts';

const RULE = resolve(import.meta.dirname, '../../../knative/alerts/prometheus-rule.yaml');
const DASHBOARDS = resolve(import.meta.dirname, '../../../knative/dashboards');
const run = promisify(execFile);

interface Group {
  readonly rules: readonly {
    readonly alert: string;
    readonly labels: Readonly<Record<string, string>>;
  }[];
}

const { spec } = parse(await readFile(RULE, 'utf8')) as { spec: { groups: readonly Group[] } };
const rules = spec.groups.flatMap((group) => group.rules);
let dir = '';
let promtool = '';

beforeAll(async () => {
  promtool = await resolvePart('promtool');
  dir = await mkdtemp(join(tmpdir(), 'ballast-alerts-'));
  await writeFile(join(dir, 'rules.yaml'), stringify({ groups: spec.groups }));
});
afterAll(() => rm(dir, { recursive: true }));

/** The words of promtool when it fails; empty when all is as said. */
async function saidBy(...args: readonly string[]): Promise<string> {
  try {
    await run(promtool, args, { cwd: dir });
    return '';
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    return `${stdout}${stderr}`;
  }
}

/** In the words of promtool: at one time the alert fires or not, for these series. */
function testOf(
  { alert, labels = {}, summary, minutes }: AlertCase,
  series: Readonly<Record<string, string>>,
  fires: boolean,
): object {
  const ruleLabels = rules.find((rule) => rule.alert === alert)?.labels;
  const expected = { exp_labels: { ...ruleLabels, ...labels }, exp_annotations: { summary } };
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [
      {
        eval_time: `${minutes}m`,
        alertname: alert,
        exp_alerts: fires ? [expected] : [],
      },
    ],
  };
}

async function tried(name: string, tests: readonly object[]): Promise<string> {
  const file = `${name}.yaml`;
  // A day has many minutes.
  const head = { rule_files: ['rules.yaml'], evaluation_interval: '5m' };
  await writeFile(join(dir, file), stringify({ ...head, tests }));
  return saidBy('test', 'rules', file);
}

/** By kubectl, as a component of a kustomization. */
async function rendered(folder: string): Promise<readonly unknown[]> {
  const components = [relative(dir, folder)];
  const head = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' };
  await writeFile(join(dir, 'kustomization.yaml'), stringify({ ...head, components }));
  const { stdout } = await run(await resolvePart('kubectl'), ['kustomize', dir]);
  return parseAllDocuments(stdout).map((document): unknown => document.toJS());
}

test('kubectl takes the alerts as a component, with what they need scraped', async () => {
  expect(await rendered(dirname(RULE))).toEqual([
    expect.objectContaining({ kind: 'PodMonitor' }),
    parse(await readFile(RULE, 'utf8')),
  ]);
});

test('kubectl takes the dashboard as a component, labelled as Grafana looks for it', async () => {
  const [config] = await rendered(DASHBOARDS);
  expect(config).toMatchObject({
    kind: 'ConfigMap',
    metadata: { namespace: 'ballast-system', labels: { grafana_dashboard: '1' } },
    data: { 'ballast.json': await readFile(join(DASHBOARDS, 'ballast.json'), 'utf8') },
  });
});

test('Prometheus reads the rules, and finds nothing wrong with them', async () => {
  expect(await saidBy('check', 'rules', '--lint-fatal', 'rules.yaml')).toBe('');
});

test('there is a case for each alert', () => {
  const told = new Set(CASES.map(({ alert }) => alert));
  expect([...told].toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});

test('each alert fires when it is to, and says what it is to say', async () => {
  expect(
    await tried(
      'fires',
      CASES.map((one) => testOf(one, one.fires, true)),
    ),
  ).toBe('');
});

test('each alert stays silent while all is well', async () => {
  expect(
    await tried(
      'silent',
      CASES.map((one) => testOf(one, one.silent, false)),
    ),
  ).toBe('');
});
