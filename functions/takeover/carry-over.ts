// The spec of the new EtcdCluster: what the legacy object says, and over it what the Takeover does.
// Where the legacy object says nothing the defaults of an EtcdCluster count. Pure.
import type { TakeoverSpec } from '../../shared/api/takeover.ts';
import { isRecord } from '../../shared/kube/json.ts';
import type { LegacyEtcd } from './legacy.ts';
import { operatorOf } from './legacy/operators.ts';
import type { Fields } from './legacy/said.ts';

type How = Pick<TakeoverSpec, 'legacy' | 'into' | 'mode'>;

export function carriedOver(legacy: LegacyEtcd, { legacy: of, into, mode }: How): Fields {
  const clients = { mode: legacy.tls === undefined ? 'None' : 'Mutual' };
  const joins = mode === 'Join';
  const said = {
    tls: { clients, peers: { mode: joins ? 'None' : 'Mutual' } },
    ...(joins ? { image: JOINS } : {}),
    ...operatorOf(of).carried(legacy),
  };
  return over(said, into.spec ?? {});
}

/** Members of 3.3 take it, and none of the next version. */
const JOINS = 'quay.io/coreos/etcd:v3.5.35';

/** Objects field by field; everything else as a whole. */
export function over(below: Fields, above: Fields): Fields {
  const merged: Record<string, unknown> = { ...below };
  for (const [name, value] of Object.entries(above)) {
    const under = merged[name];
    const both = isRecord(value) && isRecord(under);
    merged[name] = both ? over(under, value) : value;
  }
  return merged;
}
