// The answer of `npm run docs:dashboard` to its arguments: the dashboard as Grafana reads it is
// written, or held against the panels.
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { askedFor, Stale } from '../generated.ts';
import { dashboardOf } from './grafana.ts';
import { ROWS } from './panels.ts';

export const USAGE = `\
usage: npm run docs:dashboard [-- --check]

Writes knative/dashboards/ballast.json, the dashboard for Grafana, from its panels in
knative/tools/dashboard/panels.ts.

  --check  writes nothing; ends with 1 when the file is another one
  --help   this
`;

const FILE = resolve(import.meta.dirname, '../../dashboards/ballast.json');

export async function answer(args: readonly string[], file = FILE): Promise<string> {
  const asked = askedFor(args);
  if (asked === 'help') return USAGE;
  const text = `${JSON.stringify(dashboardOf(ROWS), null, 2)}\n`;
  const before = await readFile(file, 'utf8').catch(() => '');
  if (before === text) return 'The dashboard is as its panels say.\n';
  if (asked === 'check') {
    throw new Stale('The dashboard is an older one: npm run docs:dashboard writes it.');
  }
  await writeFile(file, text);
  return 'Wrote knative/dashboards/ballast.json.\n';
}
