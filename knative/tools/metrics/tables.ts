// The tables of docs/metrics.md: one for each domain, a row for each metric. Pure.
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

export function tablesOf({ metrics, functions }: CollectedMetrics): string {
  const homeless = metrics.filter(({ instrument }) => domainOf(instrument.name) === undefined);
  if (homeless.length > 0) {
    const names = homeless.map(({ instrument }) => instrument.name).join(', ');
    throw new Error(
      `no domain has ${names}: name how it begins in knative/tools/metrics/tables.ts`,
    );
  }
  return DOMAINS.map(([domain]) => {
    const own = metrics.filter(({ instrument }) => domainOf(instrument.name) === domain);
    const rows = own.map((one) => rowOf(one, functions.length));
    return `### ${domain}\n\n${HEAD}\n${rows.join('\n')}\n`;
  }).join('\n');
}

const HEAD = '| metric | type | labels | served by | meaning |\n|---|---|---|---|---|';

const domainOf = (name: string): string | undefined =>
  DOMAINS.find(([, begins]) => begins.some((begin) => name.startsWith(begin)))?.[0];

function rowOf({ instrument, functions }: FoundMetric, count: number): string {
  const { name, kind, labelNames, help } = instrument;
  const by = functions.length === count ? 'all' : functions.map(code).join(', ');
  return `| ${code(name)} | ${kind} | ${labelNames.map(code).join(', ')} | ${by} | ${help} |`;
}

const code = (text: string): string => `\`${text}\``;
