// The spec of the new EtcdCluster: what the legacy object says, and over it what the Takeover does.
// Where the legacy object says nothing the defaults of an EtcdCluster count. Pure.
import type { TakeoverSpec } from '../../shared/api/takeover.ts';
import { isRecord, textOf } from '../../shared/kube/json.ts';
import { quantityOf } from '../../shared/kube/quantity.ts';
import { fieldOf, type LegacyEtcd } from './legacy.ts';

type Fields = Readonly<Record<string, unknown>>;

type How = Pick<TakeoverSpec, 'into' | 'mode'>;

export function carriedOver(legacy: LegacyEtcd, { into, mode }: How): Fields {
  const pod = fieldOf(legacy.spec, 'pod');
  const clients = { mode: legacy.tls === undefined ? 'None' : 'Mutual' };
  const joins = mode === 'Join';
  const said = {
    ...replicasOf(legacy),
    tls: { clients, peers: { mode: joins ? 'None' : 'Mutual' } },
    ...(joins ? { image: JOINS } : {}),
    ...storageOf(fieldOf(pod, 'persistentVolumeClaimSpec')),
    ...resourcesOf(fieldOf(pod, 'resources')),
  };
  return over(said, into.spec ?? {});
}

/** Members of 3.3 take it, and none of the next version. */
const JOINS = 'quay.io/coreos/etcd:v3.5.35';

/** An even number bears the loss of no more members than one less; two become three. */
function replicasOf({ size }: LegacyEtcd): Fields {
  if (size === undefined) return {};
  return { replicas: size % 2 === 1 ? size : size + 1 };
}

/** Below this an EtcdCluster of the default quota has no room. */
const SIZE_LEAST = '10Gi';

function storageOf(claim: Fields): Fields {
  const asked = textOf(fieldOf(fieldOf(claim, 'resources'), 'requests')['storage']);
  const storageClassName = textOf(claim['storageClassName']);
  const size = quantityOf(asked) > quantityOf(SIZE_LEAST) ? asked : SIZE_LEAST;
  const named = storageClassName === '' ? {} : { storageClassName };
  return { storage: { medium: 'Volume', size, ...named } };
}

export function resourcesOf(resources: Fields): Fields {
  const amounts = (name: string): Fields => {
    const { cpu, memory } = fieldOf(resources, name);
    const told = {
      ...(isAmount(cpu) ? { cpu: String(cpu) } : {}),
      ...(isAmount(memory) ? { memory: String(memory) } : {}),
    };
    return Object.keys(told).length === 0 ? {} : { [name]: told };
  };
  const said = { ...amounts('requests'), ...amounts('limits') };
  return Object.keys(said).length === 0 ? {} : { resources: said };
}

const isAmount = (value: unknown): boolean =>
  (typeof value === 'string' && !Number.isNaN(quantityOf(value))) || typeof value === 'number';

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
