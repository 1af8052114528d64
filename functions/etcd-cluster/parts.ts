// Reads the parts of a cluster that no member has for itself, and compares them with how they are
// rendered. observe.ts calls it after changes and every few minutes.
import { STARTS_SUFFIX, startsSecretName } from '../../shared/api/etcd-names.ts';
import { type EtcdLogin, Session } from '../../shared/etcd/admin/caller.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { compareParts } from '../../shared/stateful/compare-parts.ts';
import { wasReady } from '../../shared/stateful/memory.ts';
import { freshRefusal, policyRefusalOf } from '../../shared/stateful/missing-rights.ts';
import { SECRETS } from '../../shared/stateful/parts.ts';
import { readOnce } from '../../shared/stateful/read-once.ts';
import { firstEndMs, readOwn } from '../../shared/stateful/certificates/secret-data.ts';
import { commonNameOf } from '../../shared/x509.ts';
import { readAuth, refusedCertificate } from './auth/secrets.ts';
import { type CertificateSets, readCertificates } from './certificates.ts';
import type { Cluster } from './cluster.ts';
import type { Memory } from './deps.ts';
import { legacyOf } from './joins.ts';
import { ownerOf } from './owner.ts';
import { mayGoOf, render } from './render.ts';
import { isBirthOver } from './starts.ts';
import type { Access, Parts } from './state.ts';
import { authoritiesHash, type Trusts } from './trust.ts';

export interface PartsDeps {
  readonly kube: KubeClient;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  readonly memory: Memory;
  readonly trusts: Trusts;
}

/** Open to the network where a NetworkPolicy cannot be made. */
export const EXPOSED = 'the ports for members and for metrics';

export async function readParts(deps: PartsDeps, cluster: Cluster): Promise<Parts> {
  const owner = ownerOf(cluster);
  const versions = new Map<string, string>();
  const { kept } = deps.memory;
  const once = { ...deps, kube: readOnce(deps.kube) };
  const secretsDeps = { ...once, versions, kept };
  const read = await readCertificates(secretsDeps, cluster);
  const { toMake, notice } = read;
  const named = commonNameOf(read.sets?.clients?.client.certificate);
  const lacking = read.lacking ?? refusedCertificate(cluster, named);
  const sets = lacking === undefined ? read.sets : undefined;
  const { auth, toMake: toMakeForAuth } = await readAuth(secretsDeps, cluster, named);
  const starts = await readOwn(secretsDeps, owner, STARTS_SUFFIX);
  const isServed = isBirthOver(cluster, starts.own);
  const mayGo = mayGoOf(cluster);
  const servedUntilMs = servedUntil(read.sets);
  const compared = await compareParts(once, {
    owner,
    parts: sets === undefined ? [] : render(cluster, sets, { isServed, mayGo }),
    early: new Map(),
    forbidden: {
      key: 'networkPolicy',
      refusal: freshRefusal(deps.memory.policyRefusal, deps.nowMs),
      refusalOf: (error) =>
        policyRefusalOf({ ...owner, functionName: 'etcd-cluster', exposed: EXPOSED }, error),
    },
  });
  return {
    toMake: toMake ?? toMakeForAuth,
    lacking: lacking ?? starts.lacking ?? compared.nameConflict,
    access: sets === undefined ? undefined : accessBy(sets, sessionOf(deps.memory, auth?.root)),
    ...(auth === undefined ? {} : { auth }),
    found: compared.found,
    wrong: compared.wrong,
    policyRefusal: compared.refusal,
    ...(read.refused === undefined ? {} : { refused: read.refused }),
    certificatesHash:
      sets === undefined ? undefined : authoritiesHash(sets.clients?.server.ca, sets.peers?.ca),
    ...(servedUntilMs === undefined ? {} : { servedUntilMs }),
    secrets: versions,
    notice,
    starts: starts.own,
    legacy: legacyOf(cluster),
    mayGo,
  };
}

function servedUntil(sets: CertificateSets | undefined): number | undefined {
  const { clients, peers } = sets ?? {};
  const all = [clients?.server, clients?.client, peers];
  return firstEndMs(all.map((one) => one?.certificate));
}

function accessBy({ clients }: CertificateSets, session: Session | undefined): Access {
  const login = session === undefined ? {} : { session };
  if (clients === undefined) return { tls: undefined, ...login };
  const { ca, certificate, key } = clients.client;
  return { tls: { ca, cert: certificate, key }, ...login };
}

/** The one that has a token already, as long as the password is the same. */
function sessionOf(memory: Memory, root: EtcdLogin | undefined): Session | undefined {
  const before = memory.session;
  if (root === undefined || before?.login?.password === root.password) return before;
  memory.session = new Session(root);
  return memory.session;
}

/**
 * No event tells that a Secret was deleted or edited, so their versions are compared each time.
 * Only members that have lost their data miss the one with the starts, so that on volumes it may
 * wait until all is read again.
 */
export async function areAsRead(
  { kube, signal }: PartsDeps,
  cluster: Cluster,
  { secrets }: Parts,
): Promise<boolean> {
  const { namespace, spec } = cluster;
  const mayWait = spec.storage.medium === 'Volume' && wasReady(cluster);
  for (const [name, version] of secrets) {
    if (mayWait && name === startsSecretName(cluster.name)) continue;
    const now = await kube.get(SECRETS, { namespace, name }, { metadataOnly: true, signal });
    if (now?.metadata.resourceVersion !== version) return false;
  }
  return true;
}
