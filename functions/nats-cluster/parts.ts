// Reads the parts of a cluster and compares them with how they are rendered. observe.ts calls it
// after changes and every few minutes.
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { selectorText } from '../../shared/kube/label-selector.ts';
import { isEnding, type KubeObject } from '../../shared/kube/objects.ts';
import {
  dataOf,
  firstEndMs,
  type SecretData,
} from '../../shared/stateful/certificates/secret-data.ts';
import { accessModeOf } from '../../shared/stateful/claim-template.ts';
import { type ClaimSelection, readClaims } from '../../shared/stateful/claims.ts';
import { type Compared, compareParts } from '../../shared/stateful/compare-parts.ts';
import { findLost } from '../../shared/stateful/lost.ts';
import { policyRefusalOf } from '../../shared/stateful/missing-rights.ts';
import {
  BUDGETS,
  foundPartOf,
  isOurs,
  SECRETS,
  STATEFUL_SETS,
} from '../../shared/stateful/parts.ts';
import { findPending, type PendingMemory, type PendingOf } from '../../shared/stateful/pending.ts';
import type { Pod } from '../../shared/stateful/pods.ts';
import { readOnce } from '../../shared/stateful/read-once.ts';
import { attainableBy, growthOf, sizeAmong } from './claims.ts';
import { claimName, type Cluster, isClaim, ordinalOf, serverName } from './cluster.ts';
import { LISTENERS } from './lost-authority.ts';
import { ownerOf } from './owner.ts';
import { CONFIG_KEY, CONFIG_SUFFIX } from './render/config.ts';
import { selectorOf } from './render/labels.ts';
import { type PartKey, render, type Rendered } from './render/manifests.ts';
import { accountsIn, type KnownPasswords, passwordsIn, saysTlsIn } from './render/read-back.ts';
import { USER_SUFFIX } from './user-secrets.ts';
import { readSecrets } from './secrets.ts';
import { forgetFormer } from './system-secret.ts';
import type { Parts } from './state.ts';
import { unnamedIn } from './told-of-secrets.ts';

/** Open to the network where a NetworkPolicy cannot be made. */
export const EXPOSED = 'the routes and monitoring pages';

export interface PartsDeps {
  readonly kube: KubeClient;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Passwords that servers were given, as this instance remembers them. */
  readonly known: KnownPasswords | undefined;
  /** Content of Secrets that have no copy elsewhere, as last read. */
  readonly kept: Map<string, SecretData>;
  /** Set while the NetworkPolicy was refused a short while ago. */
  readonly policyRefusal: Reason | undefined;
  /** A server was reached with TLS since the configuration says so. */
  readonly hasSeenTls?: boolean | undefined;
  readonly namesRefusedAtMs: number | undefined;
  readonly memory: PendingMemory;
}

export async function readParts(
  deps: PartsDeps,
  cluster: Cluster,
  pods: readonly Pod[],
): Promise<Parts> {
  const { kube, signal } = deps;
  const { name, namespace } = cluster;
  const { fileStorage } = cluster.spec.jetStream;
  const configAt = { namespace, name: `${name}${CONFIG_SUFFIX}` };
  const config = await kube.get(SECRETS, configAt, { signal });
  const served = servedIn(config, cluster);
  const versions = versionsOf(config);
  const secretUids = uidIn(config);
  const found = { versions, secretUids, running: uidsOf(cluster, pods) };
  const secrets = await readSecrets({ ...deps, ...found, kube: readOnce(kube) }, cluster, config);
  const { credentials, system, systemPassword, notice } = secrets;
  const { formerPasswords = [], trustedCa = '', beforeTls = [] } = secrets;
  const statefulSet = await kube.get(STATEFUL_SETS, { namespace, name }, { signal });
  const budget = await kube.get(BUDGETS, { namespace, name }, { signal });
  const claims =
    fileStorage === undefined ? [] : await readClaims(deps, claimsOf(cluster), () => ({}));
  const size = replicasIn(statefulSet) ?? sizeAmong(cluster, pods, claims);
  const accessMode = accessModeOf(fileStorage?.accessMode, statefulSet ?? undefined, claims);
  const growth = await growthOf(deps, cluster, claims);
  const attainable = attainableBy(cluster, growth);
  const rendered = credentials && render(attainable, credentials, { size, accessMode });
  const compared = await compareWith(deps, cluster, rendered, { statefulSet, config, budget });
  const old = rendered && system && forgetFormer(cluster, system, rendered);
  return {
    toMake: secrets.toMake ?? old,
    lacking: secrets.lacking ?? compared.nameConflict,
    systemPassword,
    formerPasswords,
    trustedCa,
    beforeTls,
    notice,
    secrets: versions,
    unnamed: unnamedIn(deps, budget, secretUids),
    ...readBack(served[CONFIG_KEY] ?? ''),
    servedUntilMs: firstEndMs(LISTENERS.map((listener) => served[`${listener}.crt`])),
    rendered,
    found: compared.found,
    wrong: compared.wrong,
    policyRefusal: compared.refusal,
    claims,
    lost: await findLost(deps, pods, claims, claimName),
    pending: await findPending(deps, pendingOf(cluster), pods, claims),
    growth,
  };
}

const replicasIn = (statefulSet: KubeObject | null): number | undefined =>
  statefulSet === null ? undefined : foundPartOf(statefulSet).replicas;

const claimsOf = (cluster: Cluster): ClaimSelection => ({
  namespace: cluster.namespace,
  labelSelector: selectorText(selectorOf(cluster)),
  isOwn: isClaim,
});

const pendingOf = ({ namespace }: Cluster): PendingOf => ({
  kind: 'NatsCluster',
  namespace,
  accessModeField: 'jetStream.fileStorage.accessMode',
  claimName,
});

/**
 * Secrets of users that are compared in one minute. They cannot be listed, since a right to list
 * them would show those of everybody in the namespace.
 */
const USERS_AT_ONCE = 8;
const TURN_MS = 60_000;

/**
 * No event tells that a Secret was deleted or edited, so every reconcile compares their versions;
 * of many users some at a time, in turn.
 */
export async function areAsRead(
  { kube, nowMs, signal }: PartsDeps,
  cluster: Cluster,
  { secrets }: Parts,
): Promise<boolean> {
  const { namespace } = cluster;
  const isOfUser = (name: string): boolean => name.startsWith(`${cluster.name}${USER_SUFFIX}`);
  const [users, others] = [true, false].map((wanted) =>
    [...secrets.keys()].filter((name) => isOfUser(name) === wanted),
  );
  const turns = Math.max(1, Math.ceil((users?.length ?? 0) / USERS_AT_ONCE));
  const first = (Math.floor(nowMs / TURN_MS) % turns) * USERS_AT_ONCE;
  const inTurn = users?.slice(first, first + USERS_AT_ONCE) ?? [];
  for (const name of [...(others ?? []), ...inTurn]) {
    const now = await kube.get(SECRETS, { namespace, name }, { metadataOnly: true, signal });
    if (now?.metadata.resourceVersion !== secrets.get(name)) return false;
  }
  return true;
}

interface Early {
  readonly statefulSet: KubeObject | null;
  readonly config: KubeObject | null;
  readonly budget: KubeObject | null;
}

const compareWith = (
  deps: PartsDeps,
  cluster: Cluster,
  rendered: Rendered | undefined,
  { statefulSet, config, budget }: Early,
): Promise<Compared<PartKey>> =>
  compareParts(deps, {
    owner: cluster,
    parts: rendered?.parts ?? [],
    early: new Map<PartKey, KubeObject | null>([
      ['statefulSet', statefulSet],
      ['config', config],
      ['budget', budget],
    ]),
    forbidden: {
      key: 'networkPolicy',
      refusal: deps.policyRefusal,
      refusalOf: (error) =>
        policyRefusalOf(
          { ...ownerOf(cluster), functionName: 'nats-cluster', exposed: EXPOSED },
          error,
        ),
    },
  });

const versionsOf = (config: KubeObject | null): Map<string, string> =>
  new Map(config === null ? [] : [[config.metadata.name, config.metadata.resourceVersion]]);

const uidIn = (config: KubeObject | null): Map<string, string> =>
  new Map(config === null || isEnding(config) ? [] : [[config.metadata.name, config.metadata.uid]]);

/** The files that servers were given last; none when the Secret belongs to somebody else. */
const servedIn = (config: KubeObject | null, cluster: Cluster): SecretData =>
  config !== null && isOurs(config, cluster) ? dataOf(config) : {};

const readBack = (config: string): Pick<Parts, 'known' | 'accounts' | 'saysTls'> => ({
  known: passwordsIn(config),
  accounts: accountsIn(config),
  saysTls: saysTlsIn(config),
});

/**
 * Anybody who may create pods may label them as servers, but no second pod can have a server's
 * name.
 */
const uidsOf = (cluster: Cluster, pods: readonly Pod[]): readonly string[] =>
  pods.flatMap(({ name, uid }) => (name === serverName(cluster, ordinalOf(name)) ? uid : []));
