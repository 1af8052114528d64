// The flags of one member: those that etcd 3.5, 3.6 and 3.7 all take, but for two that have changed
// their names, and one that 3.5 lacks. Logs are JSON by default in each, and 3.5 has no flag for
// it. Pure.
import type { PeerBootstrap } from '../../../shared/api/etcd-peer.ts';
import type { EtcdCompaction, EtcdTls } from '../../../shared/api/etcd-cluster.ts';
import { CLIENT_PORT, METRICS_PORT, PEER_PORT } from '../../../shared/api/etcd-names.ts';
import { quantityOf } from '../../../shared/kube/quantity.ts';
import { hostOf, type Peer } from '../peer.ts';

/** Where the volume is mounted. */
export const VOLUME_DIR = '/var/lib/etcd';
/** Below it: the root of a volume may have a lost+found, and belongs to whoever made it. */
const DATA_DIR = `${VOLUME_DIR}/data`;
export const TLS_DIR = '/etc/etcd/tls';

/**
 * Where a member that is forced to go on alone listens for clients: nobody reaches it. Whenever it
 * starts with that flag it forgets what its log does not call committed yet, and with it writes
 * that it has acknowledged (seen on 3.6.16 and 3.7.3, after a kill).
 */
const LOOPBACK = '127.0.0.1';

type Named = Pick<Peer, 'namespace' | 'name' | 'spec'>;

/**
 * All but the first of the largest cluster. Members count it for themselves when a learner is
 * added, so all of a cluster have to have the same; 3.5 takes one, and has no flag for more.
 */
const LEARNERS_MAX = 8;

/**
 * The variable with what a member is told when it finds no data: how, for the first of all, and
 * otherwise among whom. The kubelet reads it anew at each start of the container, also when its
 * node has started again and what was in memory is gone.
 */
export const START = 'START';
const START_VALUE = `$(${START})`;

/** Everything but how it starts for the first time. */
export function flagsOf(peer: Named): readonly string[] {
  const { name, spec } = peer;
  const { clients, peers } = spec.tls;
  const isForced = spec.recovery?.force === true;
  return [
    `--name=${name}`,
    `--data-dir=${DATA_DIR}`,
    `--listen-client-urls=${scheme(clients)}://${isForced ? LOOPBACK : '0.0.0.0'}:${CLIENT_PORT}`,
    `--advertise-client-urls=${scheme(clients)}://${hostOf(peer)}:${CLIENT_PORT}`,
    `--listen-peer-urls=${scheme(peers)}://0.0.0.0:${PEER_PORT}`,
    `--initial-advertise-peer-urls=${scheme(peers)}://${hostOf(peer)}:${PEER_PORT}`,
    `--listen-metrics-urls=http://0.0.0.0:${METRICS_PORT}`,
    `--quota-backend-bytes=${Math.floor(quantityOf(spec.quota))}`,
    ...compactionFlags(spec.compaction),
    corruptionFlag(spec.image),
    ...(OF_3_5.test(spec.image) ? [] : [`--max-learners=${LEARNERS_MAX}`]),
    `--heartbeat-interval=${spec.heartbeatMilliseconds}`,
    `--election-timeout=${spec.electionMilliseconds}`,
    `--snapshot-count=${spec.snapshotCount}`,
    ...tlsFlags(clients, '', 'clients'),
    ...tlsFlags(peers, 'peer-', 'peers'),
    ...(peers.mode === 'Mutual' ? [`--${namesUncheckedFlag(spec.image)}=true`] : []),
    ...(isForced ? ['--force-new-cluster=true'] : []),
  ];
}

/**
 * A member that finds data in its volume reads none of these. One that was born, and finds none, is
 * told of nobody: else it could join under the id that it had, and has forgotten its votes. Where
 * the variable says so, a birth changes nothing here, and nobody restarts for it.
 */
export function bootstrapFlags(peer: Named, isBorn: boolean): readonly string[] {
  const { state, token, initialCluster, start } = peer.spec.bootstrap;
  const isFirst = state === 'New';
  const flags = (all: string, how: string): readonly string[] => [
    `--initial-cluster=${all}`,
    `--initial-cluster-state=${how}`,
    `--initial-cluster-token=${token}`,
  ];
  if (start !== undefined) {
    return isFirst ? flags(listOf(initialCluster), START_VALUE) : flags(START_VALUE, 'existing');
  }
  const told = initialCluster.filter(({ name }) => !isBorn || name === peer.name);
  return flags(listOf(told), isFirst && !isBorn ? 'new' : 'existing');
}

const listOf = (members: PeerBootstrap['initialCluster']): string =>
  members.map(({ name, url }) => `${name}=${url}`).join(',');

const scheme = ({ mode }: EtcdTls): string => (mode === 'Mutual' ? 'https' : 'http');

function compactionFlags({ mode, retention }: EtcdCompaction): readonly string[] {
  if (mode === 'None' || retention === undefined) return [];
  return [
    `--auto-compaction-mode=${mode.toLowerCase()}`,
    `--auto-compaction-retention=${retention}`,
  ];
}

/**
 * The leader compares what members have after each compaction, which costs next to nothing. The
 * flag has another name in each of two versions: the image tells which one it is.
 */
const corruptionFlag = (image: string): string =>
  OF_3_5.test(image)
    ? '--experimental-compact-hash-check-enabled=true'
    : '--feature-gates=CompactHashCheck=true';

function tlsFlags({ mode }: EtcdTls, prefix: string, files: string): readonly string[] {
  if (mode === 'None') return [];
  return [
    `--${prefix}cert-file=${TLS_DIR}/${files}.crt`,
    `--${prefix}key-file=${TLS_DIR}/${files}.key`,
    `--${prefix}trusted-ca-file=${TLS_DIR}/${files}-ca.crt`,
    `--${prefix}client-cert-auth=true`,
  ];
}

/**
 * Else the others look for the address of a member among the names in its certificate, and turn it
 * away until the name servers know a pod that has just started: it would end, and be started again
 * after longer and longer pauses. Whom they dial is checked by name all the same.
 */
const namesUncheckedFlag = (image: string): string =>
  OF_3_5.test(image)
    ? 'experimental-peer-skip-client-san-verification'
    : 'peer-skip-client-san-verification';

/** The schema of EtcdClusters wants a tag that begins with a whole version. */
const OF_3_5 = /:v?3\.5\.\d+[^/]*$/;
