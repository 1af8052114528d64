// The line that grants the function by name what a takeover needs: the EtcdCluster that it makes,
// Secrets, and the Deployment of an operator elsewhere. All at once, since what is granted replaces
// what was. People paste it into a shell with the rights of an administrator, so that it has no
// text that could be a command: a name that no object can have is refused by itself, and left out.
// Pure.
import type { LegacyReference } from '../../shared/api/takeover.ts';
import { quoted } from '../../shared/cut.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { textOf } from '../../shared/kube/json.ts';
import { isObjectName } from '../../shared/kube/object-name.ts';
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
    ...option('--into', into),
    ...option('--chart', chart),
    ...new Set(secrets.flatMap((name) => option('--secret', name))),
    ...(operator !== undefined && canBe(operator)
      ? [`--operator ${operator.namespace}/${operator.name}`]
      : []),
  ];
  return `npm run -s rights -- takeover -n ${namespace} ${options.join(' ')} | kubectl apply -f -`;
}

const option = (key: string, name = ''): readonly string[] =>
  isObjectName(name) ? [`${key} ${name}`] : [];

const canBe = ({ namespace, name }: NonNullable<LegacyReference['operator']>): boolean =>
  isObjectName(namespace) && isObjectName(name);

/** `legacy`: undefined where it is gone, and with it what it says of Secrets. */
export function grantOfEtcd(takeover: Takeover, legacy: LegacyEtcd | undefined): string {
  const tls = legacy && fieldOf(carriedOver(legacy, takeover.spec), 'tls');
  const given = ['clients', 'peers'].map((one) => textOf(fieldOf(tls ?? {}, one)['secretName']));
  const { name: into } = takeover.spec.into;
  return grantLine(takeover, { into, secrets: [...secretsOf(legacy?.tls), ...given] });
}

const shown = (name: string): string => JSON.stringify(quoted(name));

/** Secrets that nobody can grant, since none can have that name. */
export const misnamedIn = (secrets: readonly string[]): readonly Reason[] =>
  [...new Set(secrets)].filter((name) => name !== '' && !isObjectName(name)).map(misnamedSecret);

const misnamedSecret = (name: string): Reason => ({
  reason: 'NameInvalid',
  message:
    `The legacy object, or spec.into.spec, names a Secret ${shown(name)}, and none can have that ` +
    'name. Write the right one there.',
});

export function misnamedOperator({ spec }: Takeover): readonly Reason[] {
  const { operator } = spec.legacy;
  if (operator === undefined || canBe(operator)) return [];
  const message =
    `spec.legacy.operator names Deployment ${shown(operator.name)} in namespace ` +
    `${shown(operator.namespace)}, and none can have that name. Create another Takeover with the ` +
    'right one.';
  return [{ reason: 'NameInvalid', message }];
}
