// The line that grants the function by name what a takeover needs: the EtcdCluster that it makes,
// Secrets, and the Deployment of an operator elsewhere. All at once, since what is granted replaces
// what was. Pure.
import { textOf } from '../../shared/kube/json.ts';
import { carriedOver } from './carry-over.ts';
import { fieldOf, type LegacyEtcd } from './legacy.ts';
import type { Takeover } from './object.ts';
import { secretsOf } from './read-secrets.ts';

export interface Named {
  readonly into?: string;
  /** A StatefulSet of Helm's chart, with what else has its name. */
  readonly chart?: string;
  readonly secrets: readonly string[];
}

export function grantLine({ namespace, spec }: Takeover, { into, chart, secrets }: Named): string {
  const { operator } = spec.legacy;
  const options = [
    ...(into === undefined ? [] : [`--into ${into}`]),
    ...(chart === undefined ? [] : [`--chart ${chart}`]),
    ...new Set(secrets.flatMap((name) => (name === '' ? [] : [`--secret ${name}`]))),
    ...(operator === undefined ? [] : [`--operator ${operator.namespace}/${operator.name}`]),
  ];
  return `npm run -s rights -- takeover -n ${namespace} ${options.join(' ')} | kubectl apply -f -`;
}

/** `legacy`: undefined where it is gone, and with it what it says of Secrets. */
export function grantOfEtcd(takeover: Takeover, legacy: LegacyEtcd | undefined): string {
  const tls = legacy && fieldOf(carriedOver(legacy, takeover.spec), 'tls');
  const given = ['clients', 'peers'].map((one) => textOf(fieldOf(tls ?? {}, one)['secretName']));
  const { name: into } = takeover.spec.into;
  return grantLine(takeover, { into, secrets: [...secretsOf(legacy?.tls), ...given] });
}
