// The answer of `npm run docs:metrics` to its arguments: the lists of docs/metrics.md as the code
// has them, written into the page or held against it. The words around them stay.
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { askedFor, Stale } from '../generated.ts';

export const USAGE = `\
usage: npm run docs:metrics [-- --check]

Writes the lists of docs/metrics.md anew: the metrics of every function, by name, type, labels and
meaning, as the functions register them. Nothing is started for it.

  --check  writes nothing; ends with 1 when the page has other metrics than the code
  --help   this
`;

const PAGE = resolve(import.meta.dirname, '../../../docs/metrics.md');
const BEGIN = '<!-- Written by `npm run docs:metrics`. -->';
const END = '<!-- End. -->';

export async function answer(args: readonly string[], page = PAGE): Promise<string> {
  const asked = askedFor(args);
  if (asked === 'help') return USAGE;
  // Loads every function, which help needs not.
  const { collectMetrics } = await import('./collect.ts');
  const { sectionsOf } = await import('./sections.ts');
  const before = await readFile(page, 'utf8');
  const after = withSections(before, sectionsOf(await collectMetrics()));
  if (before === after) return 'docs/metrics.md has the metrics that there are.\n';
  if (asked === 'check') {
    throw new Stale('docs/metrics.md is not as the code is: npm run docs:metrics writes it.');
  }
  await writeFile(page, after);
  return 'Wrote docs/metrics.md.\n';
}

function withSections(page: string, sections: string): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`docs/metrics.md lacks the lines ${BEGIN} and ${END}`);
  return `${page.slice(0, from + BEGIN.length)}\n\n${sections}\n${page.slice(to)}`;
}
