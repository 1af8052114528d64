// Reads what an EtcdCluster of aenix's operator says of its pods in `spec.podTemplate`, which is
// laid over what the operator would make. Pure.
import { isRecord, textOf } from '../../../shared/kube/json.ts';
import { fieldOf } from '../legacy.ts';
import { type Fields, recordsIn } from './said.ts';

interface Pods {
  readonly resources: Fields;
  /** How etcd itself is started otherwise than the operator would. */
  readonly overridden: readonly string[];
  /** All else that the new pods will not have, as fields. */
  readonly dropped: readonly string[];
}

const STARTS_ETCD = ['command', 'args', 'env', 'envFrom'];
const CARRIED = ['name', 'image', 'resources'];

export function podsIn(spec: Fields): Pods {
  const template = fieldOf(spec, 'podTemplate');
  const { containers: listed, ...pod } = fieldOf(template, 'spec');
  const containers = recordsIn(listed);
  const etcd = containers.find(({ name }) => name === 'etcd') ?? {};
  const others = containers.filter((one) => one !== etcd).map(({ name }) => textOf(name));
  const own = namesIn(etcd).filter((name) => !CARRIED.includes(name));
  return {
    resources: fieldOf(etcd, 'resources'),
    overridden: own.filter((name) => STARTS_ETCD.includes(name)),
    dropped: [
      ...namesIn(fieldOf(template, 'metadata')),
      ...namesIn(pod),
      ...others.map((name) => `container ${name}`),
      ...own.filter((name) => !STARTS_ETCD.includes(name)).map((name) => `${name} of etcd`),
    ].toSorted(),
  };
}

/** Those that say something. */
const namesIn = (fields: Fields): readonly string[] =>
  Object.keys(fields)
    .filter((name) => !isEmpty(fields[name]))
    .toSorted();

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || isNone(value);

const isNone = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
