// Reads the Secrets by which clients and members know each other, before and after. The right to
// read them is granted by name, so that one may not be readable.
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { textOf } from '../../shared/kube/json.ts';
import { isObjectName } from '../../shared/kube/object-name.ts';
import { isOfRbac } from '../../shared/kube/rbac.ts';
import { dataOf } from '../../shared/stateful/certificates/secret-data.ts';
import { SECRETS } from '../../shared/stateful/parts.ts';
import { fieldOf, type LegacyEtcd } from './legacy.ts';
import type { FoundSecret, Target } from './state.ts';

export async function readSecrets(
  kube: KubeClient,
  namespace: string,
  named: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, FoundSecret>> {
  const names = new Set(named.filter((name) => name !== ''));
  const secrets = new Map<string, FoundSecret>();
  for (const name of names) secrets.set(name, await readSecret(kube, { namespace, name }, signal));
  return secrets;
}

/** Those that are there. */
export const secretsOf = (tls: LegacyEtcd['tls']): readonly string[] =>
  tls === undefined
    ? []
    : [...new Set([tls.operatorSecret, tls.serverSecret, tls.trustSecret])].filter(Boolean);

/** Those that a plan is about. */
export const planSecretsOf = ({ tls }: Pick<LegacyEtcd, 'tls'>, target: Target) => [
  ...secretsOf(tls),
  givenIn(target),
];

/** By which members are asked as long as it is carried out. */
export const workSecretsOf = ({ tls }: Pick<LegacyEtcd, 'tls'>) =>
  tls === undefined ? [] : [tls.operatorSecret];

/** The Secret with the certificate of the new members, for clients; none for one that is made. */
export const givenIn = ({ wanted }: Target): string =>
  textOf(fieldOf(fieldOf(wanted, 'tls'), 'clients')['secretName']);

/** Undefined where it may not be read, since it was not granted. */
export async function orForbidden<Read>(read: Promise<Read>): Promise<Read | undefined> {
  try {
    return await read;
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN') || !isOfRbac(error.answer?.message ?? '')) {
      throw error;
    }
    return undefined;
  }
}

async function readSecret(
  kube: KubeClient,
  target: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<FoundSecret> {
  if (!isObjectName(target.name)) return { is: 'missing' };
  const object = await orForbidden(kube.get(SECRETS, target, { signal }));
  if (object === undefined) return { is: 'forbidden' };
  if (object === null) return { is: 'missing' };
  const { resourceVersion } = object.metadata;
  return { is: 'found', resourceVersion, data: dataOf(object) };
}
