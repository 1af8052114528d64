// An answer as a person reads it: what was read, a table of kinds and versions, a verdict for each
// version of each CRD, and what it comes to.
import { printable } from '../../shared/function/printable.ts';
import { textOf } from '../../shared/function/table.ts';
import { resourceName, shownVersion } from '../../shared/stored/place.ts';
import type { Row } from '../../shared/stored/tally.ts';
import type { ResourceVerdict } from '../../shared/stored/verdict.ts';
import type { KubeAnswer } from './kube.ts';
import type { Answer, Origin } from './audit.ts';

export function pageOf(answer: Answer): string {
  const { of, rows, verdicts, values, elsewhere } = answer;
  const table = rows.length === 0 ? '' : `\n${textOf(rows.map((row) => shownRow(row)))}`;
  const outside =
    elsewhere.count === 0
      ? ''
      : line(
          `${elsewhere.count} more keys are elsewhere, such as ${elsewhere.examples.join(', ')}.`,
        );
  const judged = verdicts.map((verdict) => shownVerdict(verdict)).join('');
  return `${shownOrigin(of, values)}${outside}${table}${judged}\n${shownOutcome(answer)}`;
}

export function kubePageOf({ resources, outcome, findings }: KubeAnswer): string {
  const rows = resources.map(({ versions, storedVersions, objects, ...resource }) => {
    const shown = (apiVersion: string): string => shownVersion(resource, apiVersion);
    return {
      resource: resourceName(resource),
      versions: versions.map(({ apiVersion, storage }) =>
        storage ? `${shown(apiVersion)} (storage)` : shown(apiVersion),
      ),
      'stored versions': storedVersions.map(shown),
      objects: String(objects),
    };
  });
  const table = rows.length === 0 ? '' : `${textOf(rows)}\n`;
  const judged = resources
    .filter(({ verdicts }) => verdicts.length > 0)
    .map(
      ({ verdicts, ...of }) =>
        `${line(resourceName(of))}${verdicts.map((one) => line(`  ${one}`)).join('')}\n`,
    );
  return `${table}${judged.join('')}${shownOutcome({ outcome, findings, warnings: [] })}`;
}

function shownOrigin(of: Origin, values: number): string {
  const { source, revision, sizeBytes, isHashed, records } = of;
  const size = sizeBytes === undefined ? '' : `, ${(sizeBytes / 1e6).toFixed(1)} MB`;
  const hash = isHashed === true ? ', its hash holds' : '';
  const history = records === undefined ? '' : ` in ${records} revisions`;
  return line(`${source}${size}${hash}: ${values} objects${history}, at revision ${revision}.`);
}

function shownRow(row: Row): Record<string, unknown> {
  const { apiVersion, encoding, provider, keyName, count, examples } = row;
  const version = apiVersion === undefined ? '?' : shownVersion(row, apiVersion);
  const how = encoding === 'encrypted' ? `${encoding} ${provider}:${keyName}` : encoding;
  const more = count > examples.length ? ', ...' : '';
  const names = `${examples.join(', ')}${more}`;
  return { resource: resourceName(row), version, stored: how, count: String(count), names };
}

function shownVerdict(verdict: ResourceVerdict): string {
  const lines = verdict.versions.map(({ says }) => line(`  ${says}`));
  return `\n${line(resourceName(verdict))}${lines.join('')}`;
}

type Judgement = Pick<Answer, 'outcome' | 'findings' | 'warnings'>;

function shownOutcome({ outcome, findings, warnings }: Judgement): string {
  const head = HEADS[outcome];
  const list = (all: readonly string[]): string => all.map((one) => line(`- ${one}`)).join('');
  const warned = warnings.length === 0 ? '' : `\nBefore a version is removed:\n${list(warnings)}`;
  return `${head}\n${list(findings)}${warned}`;
}

const HEADS: Readonly<Record<Answer['outcome'], string>> = {
  clean: 'Nothing is stored in an old version.',
  old: 'Something is stored in an old version:',
  unknown: 'Whether anything is stored in an old version cannot be told:',
};

/** Names may hold anything, and must not draw on a terminal or begin a line of their own. */
const line = (text: string): string => `${printable(text)}\n`;
