// Secret <name>-system: the passwords of the system account and of the routes, and former ones that
// servers may still have. A server keeps its password and authority until a reload, and only a
// client with the former password can ask it to reload.
import type { KubeObject } from '../../shared/kube/objects.ts';
import {
  certificatesIn,
  dataOf,
  newPassword,
  newSecret,
  type OwnSecret,
  renewedSecret,
  type SecretData,
  type SecretToMake,
} from '../../shared/stateful/certificates/secret-data.ts';
import { isOurs } from '../../shared/stateful/parts.ts';
import type { Cluster } from './cluster.ts';
import { ownerOf } from './owner.ts';
import { CONFIG_KEY, configDigest, SYSTEM_USER } from './render/config.ts';
import type { Rendered } from './render/manifests.ts';
import { type KnownPasswords, passwordsIn, saysTlsIn } from './render/read-back.ts';
import { passwordLost, reported, type SecretsDeps } from './secret-data.ts';

export const SYSTEM_SUFFIX = '-system';
export const PASSWORD = 'password';
export const ROUTE_PASSWORD = 'route-password';
/** Authorities of client certificates that servers have had, or are about to have. */
export const TRUSTED = 'trusted-ca.crt';
/** Former passwords that a server may still have: a list in JSON, the newest first. */
const FORMER = 'former-passwords';
/** The pods, by uid, that ran before the configuration said TLS: a list in JSON. */
const BEFORE_TLS = 'pods-before-tls';
/** The former one and those of interrupted changes; authorities with their successors. */
const FORMER_MAX = 6;

/**
 * Keeps the passwords that servers have, as long as one copy of them is known; else makes new ones.
 */
export function newSystem(
  cluster: Cluster,
  config: KubeObject | null,
  remembered: KnownPasswords | undefined,
): SecretToMake {
  const known = knownIn(cluster, config) ?? remembered;
  const ca = config === null || known === undefined ? '' : (dataOf(config)['clients-ca.crt'] ?? '');
  const data = {
    username: SYSTEM_USER,
    [PASSWORD]: known?.system ?? newPassword(),
    [ROUTE_PASSWORD]: known?.route ?? newPassword(),
    ...(ca === '' ? {} : { [TRUSTED]: certificatesIn(ca).join('') }),
  };
  const lost = known === undefined ? passwordLost(cluster, SYSTEM_SUFFIX) : undefined;
  return newSecret(ownerOf(cluster), SYSTEM_SUFFIX, data, reported(cluster, lost));
}

/** Undefined for a configuration of somebody else, or of a cluster that is gone. */
export const knownIn = (cluster: Cluster, config: KubeObject | null): KnownPasswords | undefined =>
  config !== null && isOurs(config, cluster)
    ? passwordsIn(dataOf(config)[CONFIG_KEY] ?? '')
    : undefined;

/** The present configuration, and the authority of the next one. */
interface Change {
  readonly config: KubeObject | null;
  readonly clientsCa: string | undefined;
}

/** Records the present password and authority before servers get another one. */
export function keepKnown(
  deps: Pick<SecretsDeps, 'running' | 'hasSeenTls'>,
  cluster: Cluster,
  own: OwnSecret,
  { config, clientsCa }: Change,
): SecretToMake | undefined {
  const { data: system } = own;
  const more = {
    ...trusting(system, clientsCa),
    ...remembering(cluster, system, config),
    ...withoutTls(deps, cluster, system, { config, clientsCa }),
  };
  if (Object.keys(more).length === 0) return undefined;
  return renewedSecret(ownerOf(cluster), SYSTEM_SUFFIX, own, { ...system, ...more });
}

/**
 * Records pods before the configuration says TLS, and clears the record once a server speaks it.
 */
function withoutTls(
  { running = [], hasSeenTls }: Pick<SecretsDeps, 'running' | 'hasSeenTls'>,
  cluster: Cluster,
  system: SecretData,
  { config, clientsCa }: Change,
): SecretData {
  const text = config !== null && isOurs(config, cluster) ? dataOf(config)[CONFIG_KEY] : '';
  const saysTls = saysTlsIn(text ?? '');
  const isTurnedOn = saysTls === false && clientsCa !== undefined;
  const isOver = saysTls === false || hasSeenTls === true;
  const now = system[BEFORE_TLS] ?? '[]';
  const wanted = isTurnedOn ? JSON.stringify(running.toSorted()) : isOver ? '[]' : now;
  return wanted === now ? {} : { [BEFORE_TLS]: wanted };
}

function trusting(system: SecretData, clientsCa: string | undefined): SecretData {
  const now = certificatesIn(clientsCa);
  const known = certificatesIn(system[TRUSTED]);
  if (now.every((one) => known.includes(one))) return {};
  const former = known.filter((one) => !now.includes(one)).slice(-FORMER_MAX);
  return { [TRUSTED]: [...former, ...now].join('') };
}

function remembering(cluster: Cluster, system: SecretData, config: KubeObject | null): SecretData {
  const running = knownIn(cluster, config)?.system;
  const former = formerPasswords(system);
  if (running === undefined || running === system[PASSWORD] || former[0] === running) return {};
  const all = [running, ...former.filter((one) => one !== running)];
  return { [FORMER]: JSON.stringify(all.slice(0, FORMER_MAX)) };
}

export const formerPasswords = (system: SecretData): readonly string[] => textsIn(system[FORMER]);

export const beforeTlsIn = (system: SecretData): readonly string[] => textsIn(system[BEFORE_TLS]);

function textsIn(json = '[]'): readonly string[] {
  try {
    const found: unknown = JSON.parse(json);
    return Array.isArray(found) ? found.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

/** Drops former passwords once every server has reported that it runs on the present one. */
export function forgetFormer(
  cluster: Cluster,
  own: OwnSecret,
  { config }: Rendered,
): SecretToMake | undefined {
  const { [FORMER]: former, ...rest } = own.data;
  const { servers = [] } = cluster.status;
  const isOver = servers.every((one) => one.configDigest === configDigest(config, one.name));
  if (former === undefined || servers.length === 0 || !isOver) return undefined;
  return renewedSecret(ownerOf(cluster), SYSTEM_SUFFIX, own, rest);
}
