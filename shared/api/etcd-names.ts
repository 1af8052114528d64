// Names of the parts of an EtcdCluster, and the ports of its members: the functions etcd-cluster
// and etcd-peer each make a half of it, and both have to mean the same. Pure.
import { ETCD_CLUSTER_LABEL, type EtcdTls } from './etcd-cluster.ts';
import { ETCD_PEER_LABEL } from './etcd-peer.ts';

export const CLIENT_PORT = 2379;
export const PEER_PORT = 2380;
/** Health and metrics, in plain and without certificates: the kubelet has none. */
export const METRICS_PORT = 2381;

/** The one pod of a peer's StatefulSet. */
export const podName = (peer: string): string => `${peer}-0`;

export const claimName = (peer: string): string => `data-${peer}`;

export const headlessName = (cluster: string): string => `${cluster}-headless`;

/** Ends the name of the Secret with the certificates of members, for clients and each other. */
export const TLS_SUFFIX = '-tls';

export const tlsSecretName = (cluster: string): string => `${cluster}${TLS_SUFFIX}`;

/** Ends the name of the Secret that says how members start without data. */
export const STARTS_SUFFIX = '-starts';

export const startsSecretName = (cluster: string): string => `${cluster}${STARTS_SUFFIX}`;

interface PeerPlace {
  readonly namespace: string;
  readonly cluster: string;
  readonly peer: string;
}

/** The name of a member's pod in DNS. */
export const memberHost = ({ namespace, cluster, peer }: PeerPlace): string =>
  `${podName(peer)}.${headlessName(cluster)}.${namespace}.svc`;

export const peerNameOf = (cluster: string, ordinal: number): string => `${cluster}-${ordinal}`;

/** Ordinals are below it: a certificate names every member that there can be. */
export const ORDINALS = 16;

/** Where the others reach a member. */
export const memberPeerUrl = (place: PeerPlace, { mode }: EtcdTls): string =>
  `${mode === 'Mutual' ? 'https' : 'http'}://${memberHost(place)}:${PEER_PORT}`;

/** Finds what belongs to one peer. */
export const peerSelector = (cluster: string, peer: string): Readonly<Record<string, string>> => ({
  [ETCD_CLUSTER_LABEL]: cluster,
  [ETCD_PEER_LABEL]: peer,
});
