// An answer as a person reads it: what was read, a table of kinds and versions, a verdict for each
// version of each CRD, and what it comes to.
import { textOf } from '../../shared/function/table.ts';
import { resourceName, shownVersion } from '../../shared/stored/place.ts';
import type { Row } from '../../shared/stored/tally.ts';
import type { ResourceVerdict } from '../../shared/stored/verdict.ts';
import type { KubeAnswer } from './kube.ts';
import type { Answer, Origin } from './look.ts';

export function pageOf(answer: Answer): string {
  const { of, rows, verdicts, values, elsewhere } = answer;
  const table = rows.length === 0 ? '' : `\n${textOf(rows.map((row) => shownRow(row)))}`;
  const outside =
    elsewhere.count === 0
      ? ''
      : `${elsewhere.count} more keys are elsewhere, such as ${elsewhere.examples.join(', ')}.\n`;
  const judged = verdicts.map((verdict) => shownVerdict(verdict)).join('');
  return `${shownOrigin(of, values)}${outside}${table}${judged}\n${shownOutcome(answer)}`;
}

export function kubePageOf({ resources, outcome, findings }: KubeAnswer): string {
  const rows = resources.map(({ versions, storedVersions, objects, ...resource }) => ({
    resource: resourceName(resource),
    versions: versions.map(({ name, storage }) => (storage ? `${name} (storage)` : name)),
    'stored versions': storedVersions,
    objects: String(objects),
  }));
  const table = rows.length === 0 ? '' : `${textOf(rows)}\n`;
  const judged = resources
    .filter(({ verdicts }) => verdicts.length > 0)
    .map(
      ({ verdicts, ...of }) =>
        `${resourceName(of)}\n${verdicts.map((one) => `  ${one}\n`).join('')}\n`,
    );
  return `${table}${judged.join('')}${shownOutcome({ outcome, findings })}`;
}

function shownOrigin(of: Origin, values: number): string {
  const { source, revision, sizeBytes, isHashed, records } = of;
  const size = sizeBytes === undefined ? '' : `, ${(sizeBytes / 1e6).toFixed(1)} MB`;
  const hash = isHashed === true ? ', its hash holds' : '';
  const history = records === undefined ? '' : ` in ${records} revisions`;
  return `${source}${size}${hash}: ${values} objects${history}, at revision ${revision}.\n`;
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
  const lines = verdict.versions.map(({ says }) => `  ${says}\n`);
  return `\n${resourceName(verdict)}\n${lines.join('')}`;
}

function shownOutcome({ outcome, findings }: Pick<Answer, 'outcome' | 'findings'>): string {
  if (outcome === 'clean') return 'Nothing is stored in an old version.\n';
  const head =
    outcome === 'old'
      ? 'Something is stored in an old version:\n'
      : 'Whether anything is stored in an old version cannot be told:\n';
  return `${head}${findings.map((finding) => `- ${finding}\n`).join('')}`;
}
