// The flags of etcd that an EtcdCluster of aenix's operator has in `spec.options`: those that an
// EtcdCluster of ours says as well, those that no client notices, and all others. Pure.
import { textOf } from '../../../shared/kube/json.ts';
import { fieldOf } from '../legacy.ts';
import type { Fields } from './said.ts';

interface Options {
  /** In the words of an EtcdCluster of ours. */
  readonly said: Fields;
  /** No client notices that they are gone. */
  readonly dropped: readonly string[];
  /** An EtcdCluster of ours has no words for them, and clients may live by them. */
  readonly unsaid: readonly string[];
}

const NUMBERS: Readonly<Record<string, string>> = {
  'heartbeat-interval': 'heartbeatMilliseconds',
  'election-timeout': 'electionMilliseconds',
  'snapshot-count': 'snapshotCount',
};
const QUOTA = 'quota-backend-bytes';
const [MODE, RETENTION] = ['auto-compaction-mode', 'auto-compaction-retention'];

/** Logs, metrics, and files that are kept. */
const UNNOTICED =
  /^(?:log-.*|logger|debug|metrics|enable-pprof|max-wals|max-snapshots|listen-metrics-urls)$/;

export function optionsIn(spec: Fields): Options {
  const all = Object.entries(fieldOf(spec, 'options')).map(
    ([name, value]) => [name, textOf(value)] as const,
  );
  const options = new Map(all);
  const said = { ...compactionOf(options), ...quotaOf(options), ...numbersOf(options) };
  const isSaid = (name: string): boolean => {
    if (name === QUOTA) return 'quota' in said;
    if (name === MODE || name === RETENTION) return 'compaction' in said;
    return (NUMBERS[name] ?? '') in said;
  };
  const rest = all.map(([name]) => name).filter((name) => !isSaid(name));
  return {
    said,
    dropped: rest.filter((name) => UNNOTICED.test(name)).toSorted(),
    unsaid: rest.filter((name) => !UNNOTICED.test(name)).toSorted(),
  };
}

type Said = ReadonlyMap<string, string>;

const isNumber = (text: string | undefined): text is string => /^\d{1,15}$/.test(text ?? '');

function quotaOf(options: Said): Fields {
  const quota = options.get(QUOTA);
  return isNumber(quota) ? { quota } : {};
}

const numbersOf = (options: Said): Fields =>
  Object.fromEntries(
    Object.entries(NUMBERS).flatMap(([name, field]) => {
      const value = options.get(name);
      return isNumber(value) ? [[field, Number(value)]] : [];
    }),
  );

/** A number alone means hours to etcd, and 0 that nothing is compacted. */
function compactionOf(options: Said): Fields {
  const mode = options.get(MODE) ?? 'periodic';
  const retention = options.get(RETENTION);
  if (!['periodic', 'revision'].includes(mode) || retention === undefined) return {};
  if (/^0[mh]?$/.test(retention)) return { compaction: { mode: 'None' } };
  if (mode === 'revision') {
    return isNumber(retention) ? { compaction: { mode: 'Revision', retention } } : {};
  }
  const hours = isNumber(retention) ? `${retention}h` : retention;
  return /^[1-9]\d{0,4}[mh]$/.test(hours)
    ? { compaction: { mode: 'Periodic', retention: hours } }
    : {};
}
