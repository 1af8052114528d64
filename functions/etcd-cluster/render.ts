// Renders the parts of a cluster that no member has for itself: the Secret that every pod mounts,
// the one for clients, the Services, the budget, and the policy of the network. Each belongs to the
// EtcdCluster and goes with it. Pure.
import { ETCD_BACKUP_LABEL } from '../../shared/api/etcd-backup.ts';
import {
  CLIENT_PORT,
  headlessName,
  METRICS_PORT,
  PEER_PORT,
  TLS_SUFFIX,
} from '../../shared/api/etcd-names.ts';
import { ETCD_PEERS, type EtcdPeerSpec } from '../../shared/api/etcd-peer.ts';
import { apiVersionOf, type Manifest, type ResourceRef } from '../../shared/kube/objects.ts';
import { secretManifest } from '../../shared/stateful/certificates/secret-data.ts';
import {
  BUDGETS,
  NETWORK_POLICIES,
  owned,
  type RenderedPart,
  SECRETS,
  servicePort,
  SERVICES,
} from '../../shared/stateful/parts.ts';
import { type Cluster, selectorOf, serviceHost } from './cluster.ts';
import type { CertificateSets } from './certificates.ts';
import { legacyOf } from './joins.ts';
import { ownerOf } from './owner.ts';

/** The parts that are applied and kept as rendered, in the order in which they are made. */
export type PartKey = 'tls' | 'client' | 'headless' | 'service' | 'budget' | 'networkPolicy';

export function render(
  cluster: Cluster,
  certificates: CertificateSets,
  { isServed = true, mayGo = 1 }: { readonly isServed?: boolean; readonly mayGo?: number } = {},
): readonly RenderedPart<PartKey>[] {
  const part = (key: PartKey, ref: ResourceRef, manifest: Manifest): RenderedPart<PartKey> => ({
    key,
    ref,
    manifest,
  });
  const { clients, peers } = certificates;
  return [
    ...(clients === undefined && peers === undefined
      ? []
      : [part('tls', SECRETS, tlsSecret(cluster, certificates))]),
    part('client', SECRETS, clientSecret(cluster, certificates)),
    part('headless', SERVICES, headlessService(cluster)),
    ...(isServed ? [part('service', SERVICES, clientService(cluster))] : []),
    part('budget', BUDGETS, budget(cluster, mayGo)),
    // An existing policy stays when the spec says None: its user may want to keep it.
    ...(cluster.spec.networkPolicy === 'None'
      ? []
      : [part('networkPolicy', NETWORK_POLICIES, networkPolicy(cluster))]),
  ];
}

/** Every pod mounts it: it holds no key of an authority. */
function tlsSecret(cluster: Cluster, { clients, peers }: CertificateSets): Manifest {
  const data = Object.entries({ clients: clients?.server, peers }).flatMap(([use, files]) =>
    files === undefined
      ? []
      : [
          [`${use}.crt`, files.certificate],
          [`${use}.key`, files.key],
          [`${use}-ca.crt`, files.ca],
        ],
  );
  return secretManifest(ownerOf(cluster), TLS_SUFFIX, Object.fromEntries(data));
}

/** All that a client needs: where the members are, and what it shows them. */
function clientSecret(cluster: Cluster, { clients }: CertificateSets): Manifest {
  const scheme = clients === undefined ? 'http' : 'https';
  const ca = clients === undefined ? {} : { 'ca.crt': clients.client.ca };
  const own =
    clients?.isManaged === true
      ? { 'tls.crt': clients.client.certificate, 'tls.key': clients.client.key }
      : {};
  const data = { endpoints: `${scheme}://${serviceHost(cluster)}:${CLIENT_PORT}`, ...ca, ...own };
  return secretManifest(ownerOf(cluster), '-client', data);
}

function headlessService(cluster: Cluster): Manifest {
  const spec = {
    clusterIP: 'None',
    // Members look for each other before any of them is ready.
    publishNotReadyAddresses: true,
    selector: selectorOf(cluster),
    ports: [
      servicePort('client', CLIENT_PORT),
      servicePort('peer', PEER_PORT),
      servicePort('metrics', METRICS_PORT),
    ],
  };
  const object = { apiVersion: 'v1', kind: 'Service', name: headlessName(cluster.name) };
  return ownedBy(cluster, object, { spec });
}

function clientService(cluster: Cluster): Manifest {
  const spec = { selector: selectorOf(cluster), ports: [servicePort('client', CLIENT_PORT)] };
  const object = { apiVersion: 'v1', kind: 'Service', name: cluster.name };
  return ownedBy(cluster, object, { spec });
}

/** A pod takes with it what it has in memory, so the others have to be enough without. */
export function mayGoOf({ spec, status: { leaving, members = [] } }: Cluster): number {
  if (spec.storage.medium === 'Volume') return 1;
  const stay = members.filter(
    ({ name, ready, role }) => ready === true && role !== 'Learner' && name !== leaving?.peer,
  );
  return stay.length >= Math.max(spec.replicas, VOTERS_MIN) ? 1 : 0;
}

/** None of fewer can go for good, and leave a quorum. */
const VOTERS_MIN = 3;

/** One pod away at a time, a learner among them, so voters keep their quorum through any drain. */
function budget(cluster: Cluster, mayGo: number): Manifest {
  const spec = { maxUnavailable: mayGo, selector: { matchLabels: selectorOf(cluster) } };
  const object = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', name: cluster.name };
  return ownedBy(cluster, object, { spec });
}

const MAY_SCRAPE = { namespaceSelector: { matchLabels: { 'ballast.dev/may-scrape': 'true' } } };

/**
 * Anybody who may make pods here may give them the label of a backup. He may give them that of a
 * member, too, which lets in as well; and etcd wants to see a certificate.
 */
const BACKUPS = {
  podSelector: { matchExpressions: [{ key: ETCD_BACKUP_LABEL, operator: 'Exists' }] },
};

/**
 * The operator gave this label to the pods of its clusters. Anybody who may make pods here may give
 * it, too, as he may that of a member; among those of before there are no certificates.
 */
function membersOfBefore(cluster: Cluster): readonly object[] {
  const legacy = legacyOf(cluster);
  if (legacy === undefined) return [];
  const from = [{ podSelector: { matchLabels: { etcd_cluster: legacy } } }];
  return [{ from, ports: [{ protocol: 'TCP', port: PEER_PORT }] }];
}

function networkPolicy(cluster: Cluster): Manifest {
  const own = { podSelector: { matchLabels: selectorOf(cluster) } };
  const keepers = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ballast-system' } },
    podSelector: { matchLabels: { 'serving.knative.dev/service': 'etcd-cluster' } },
  };
  const clients = [{ protocol: 'TCP', port: CLIENT_PORT }];
  const spec = {
    podSelector: { matchLabels: selectorOf(cluster) },
    policyTypes: ['Ingress'],
    ingress: [
      { from: [own], ports: [{ protocol: 'TCP', port: PEER_PORT }, ...clients] },
      ...membersOfBefore(cluster),
      cluster.spec.networkPolicy === 'Open'
        ? { ports: clients }
        : { from: [keepers, BACKUPS], ports: clients },
      { from: [MAY_SCRAPE], ports: [{ protocol: 'TCP', port: METRICS_PORT }] },
    ],
  };
  const object = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', name: cluster.name };
  return ownedBy(cluster, object, { spec });
}

export function peerManifest(cluster: Cluster, name: string, spec: EtcdPeerSpec): Manifest {
  const object = { apiVersion: apiVersionOf(ETCD_PEERS), kind: 'EtcdPeer', name };
  return ownedBy(cluster, object, { spec });
}

/** Renders an object that is deleted with the EtcdCluster. */
function ownedBy(
  cluster: Cluster,
  object: { readonly apiVersion: string; readonly kind: string; readonly name: string },
  body: Readonly<Record<string, unknown>>,
): Manifest {
  return owned(ownerOf(cluster), object.apiVersion, object.kind, object.name, body);
}
