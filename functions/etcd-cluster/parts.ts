// Reads the parts of a cluster that no member has for itself, and compares them with how they are
// rendered. observe.ts calls it after changes and every few minutes.
import { hashOf } from '../../shared/hash.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { compareParts } from '../../shared/stateful/compare-parts.ts';
import { freshRefusal, policyRefusalOf } from '../../shared/stateful/missing-rights.ts';
import { SECRETS } from '../../shared/stateful/parts.ts';
import { type CertificateSets, readCertificates } from './certificates.ts';
import type { Cluster } from './cluster.ts';
import type { Memory } from './deps.ts';
import { ownerOf } from './owner.ts';
import { render } from './render.ts';
import type { Access, Parts } from './state.ts';

export interface PartsDeps {
  readonly kube: KubeClient;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  readonly memory: Memory;
}

/** Open to the network where a NetworkPolicy cannot be made. */
export const EXPOSED = 'the ports for members and for metrics';

export async function readParts(deps: PartsDeps, cluster: Cluster): Promise<Parts> {
  const owner = ownerOf(cluster);
  const versions = new Map<string, string>();
  const { kept } = deps.memory;
  const secretsDeps = { ...deps, versions, kept };
  const { sets, toMake, lacking, notice } = await readCertificates(secretsDeps, cluster);
  const compared = await compareParts(deps, {
    owner,
    parts: sets === undefined ? [] : render(cluster, sets),
    early: new Map(),
    forbidden: {
      key: 'networkPolicy',
      refusal: freshRefusal(deps.memory.policyRefusal, deps.nowMs),
      refusalOf: (error) =>
        policyRefusalOf({ ...owner, functionName: 'etcd-cluster', exposed: EXPOSED }, error),
    },
  });
  return {
    toMake,
    lacking: lacking ?? compared.nameConflict,
    access: sets === undefined ? undefined : accessBy(sets),
    found: compared.found,
    wrong: compared.wrong,
    policyRefusal: compared.refusal,
    certificatesHash: sets === undefined ? undefined : hashOf(authoritiesIn(sets)),
    secrets: versions,
    notice,
  };
}

function accessBy({ clients }: CertificateSets): Access {
  if (clients === undefined) return { tls: undefined };
  const { ca, certificate, key } = clients.client;
  return { tls: { ca, cert: certificate, key } };
}

/** etcd reads them when it starts, and everything else of a certificate for each connection. */
const authoritiesIn = ({ clients, peers }: CertificateSets): readonly (string | undefined)[] => [
  clients?.server.ca,
  peers?.ca,
];

/** No event tells that a Secret was deleted or edited, so their versions are compared each time. */
export async function areAsRead(
  { kube, signal }: PartsDeps,
  { namespace }: Cluster,
  { secrets }: Parts,
): Promise<boolean> {
  for (const [name, version] of secrets) {
    const now = await kube.get(SECRETS, { namespace, name }, { metadataOnly: true, signal });
    if (now?.metadata.resourceVersion !== version) return false;
  }
  return true;
}
