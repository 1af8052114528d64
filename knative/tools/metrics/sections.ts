// The lists of docs/metrics.md: one for each domain, an entry for each metric. Pure.
import type { CollectedMetrics, FoundMetric } from './collect.ts';

/** By how names begin; a metric of no domain has no place on the page. */
const DOMAINS: readonly (readonly [string, readonly string[]])[] = [
  ['Feeds', ['ballast_metadata_feed_', 'ballast_feed_']],
  ['NatsClusters', ['ballast_nats_cluster_']],
  ['EtcdClusters', ['ballast_etcd_cluster_']],
  ['Backups', ['ballast_etcd_backup_']],
  ['Migrations', ['ballast_storage_migration_']],
  ['Dead letters', ['ballast_dead_letters_']],
  [
    'Requests',
    [
      'ballast_event_',
      'ballast_events_',
      'ballast_route_',
      'ballast_failures_',
      'ballast_requests_',
      'ballast_build_',
    ],
  ],
  ['The API server', ['ballast_kube_', 'ballast_narrow_cache_']],
];

export function sectionsOf({ metrics, functions }: CollectedMetrics): string {
  const homeless = metrics.filter(({ instrument }) => domainOf(instrument.name) === undefined);
  if (homeless.length > 0) {
    const names = homeless.map(({ instrument }) => instrument.name).join(', ');
    throw new Error(
      `no domain has ${names}: name how it begins in knative/tools/metrics/sections.ts`,
    );
  }
  return DOMAINS.map(([domain]) => {
    const own = metrics.filter(({ instrument }) => domainOf(instrument.name) === domain);
    const entries = own.map((one) => entryOf(one, functions.length));
    return `### ${domain}\n\n${entries.join('\n')}\n`;
  }).join('\n');
}

const domainOf = (name: string): string | undefined =>
  DOMAINS.find(([, begins]) => begins.some((begin) => name.startsWith(begin)))?.[0];

function entryOf({ instrument, functions }: FoundMetric, count: number): string {
  const { name, kind, labelNames, help } = instrument;
  const by = functions.length === count ? 'every function' : functions.map(code).join(', ');
  const labels = labelNames.length === 0 ? '' : `, by ${labelNames.map(code).join(', ')}`;
  return `- ${code(name)}: ${kind} of ${by}${labels}.\n${indented(help)}`;
}

const code = (text: string): string => `\`${text}\``;

/** Lines of this repository's documents are no longer. */
const COLUMNS_MAX = 160;

function indented(text: string): string {
  const lines: string[] = [];
  let line = ' ';
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > COLUMNS_MAX) {
      lines.push(line);
      line = ' ';
    }
    line += ` ${word}`;
  }
  return [...lines, line].join('\n');
}
