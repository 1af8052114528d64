// Parts of the spec of an EtcdCluster of ours, as an object of an operator says them. Where that
// says nothing the defaults of an EtcdCluster count. Pure.
import { isRecord, textOf } from '../../../shared/kube/json.ts';
import { quantityOf } from '../../../shared/kube/quantity.ts';
import { fieldOf } from '../legacy.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** An even number bears the loss of no more members than one less; two become three. */
export function replicasFor(size: number | undefined): Fields {
  if (size === undefined) return {};
  return { replicas: size % 2 === 1 ? size : size + 1 };
}

/** Below this an EtcdCluster of the default quota has no room. */
const SIZE_LEAST = '10Gi';

/** As the spec of a claim has it. */
export function storageOf(claim: Fields): Fields {
  const asked = textOf(fieldOf(fieldOf(claim, 'resources'), 'requests')['storage']);
  const storageClassName = textOf(claim['storageClassName']);
  const size = quantityOf(asked) > quantityOf(SIZE_LEAST) ? asked : SIZE_LEAST;
  const named = storageClassName === '' ? {} : { storageClassName };
  return { storage: { medium: 'Volume', size, ...named } };
}

/** As a container has them. */
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

/** Entries of another shape count as absent. */
export const recordsIn = (list: unknown): readonly Fields[] =>
  Array.isArray(list) ? list.filter((one) => isRecord(one)) : [];
