// The pod of one member. It is never restarted by a change of this: etcd-cluster deletes the pod
// when its turn has come. Pure.
import { ETCD_CLUSTER_LABEL } from '../../../shared/api/etcd-cluster.ts';
import {
  claimName,
  CLIENT_PORT,
  METRICS_PORT,
  PEER_PORT,
  startsSecretName,
  tlsSecretName,
} from '../../../shared/api/etcd-names.ts';
import { quantityOf } from '../../../shared/kube/quantity.ts';
import {
  CONTAINER_BOUNDS,
  goMemoryLimit,
  POD_BOUNDS,
  placementOf,
} from '../../../shared/stateful/pod-spec.ts';
import { hasClaim, type Peer } from '../peer.ts';
import { bootstrapFlags, flagsOf, START, TLS_DIR, VOLUME_DIR } from './flags.ts';

const DATA = 'data';
const TLS = 'tls';
const PROBE_SECONDS = 5;
/**
 * A member reads its snapshot and its log before it answers at all, and receives the snapshot of
 * another one. The limit is the same for all sizes, so that growing a claim restarts nobody.
 */
const START_SECONDS_MAX = 3_600;
/** etcd gives a request five seconds and two elections, and waits for those under way. */
const END_SECONDS = 25;
const ELECTIONS = 3;

/** Members are changed one after the other, so that everything waits for one that starts. */
const START_PROBE_SECONDS = 1;

const probe = (path: string, failureThreshold: number, periodSeconds = PROBE_SECONDS) => ({
  httpGet: { path, port: 'metrics' },
  periodSeconds,
  timeoutSeconds: PROBE_SECONDS,
  failureThreshold,
});

/** A defragmentation lets nobody read, and takes ten seconds for a gigabyte, of which 64 may be. */
const HANGS_SECONDS_MAX = 900;

/**
 * livez reads from the member's own database, whoever else is away: without a leader, on a
 * learner, and with every alarm it is well. readyz asks the others, so it says who may serve, and
 * must never kill.
 */
const PROBES = {
  startupProbe: probe('/livez', START_SECONDS_MAX / START_PROBE_SECONDS, START_PROBE_SECONDS),
  readinessProbe: probe('/readyz', 2),
  livenessProbe: probe('/livez', HANGS_SECONDS_MAX / PROBE_SECONDS),
};

type Named = Pick<Peer, 'namespace' | 'name' | 'spec'>;

/** `isBorn`: its data is, or was, that of a cluster; it starts none of its own any more. */
export function podSpec(peer: Named, isBorn: boolean) {
  const { spec } = peer;
  return {
    ...POD_BOUNDS,
    terminationGracePeriodSeconds:
      END_SECONDS + Math.ceil((ELECTIONS * spec.electionMilliseconds) / 1_000),
    // Over the pods of all members, and not only its own.
    ...placementOf({ [ETCD_CLUSTER_LABEL]: spec.cluster }, spec.spread),
    containers: [container(peer, isBorn)],
    volumes: [
      dataVolume(peer),
      ...(hasTls(peer) ? [{ name: TLS, secret: { secretName: tlsSecretName(spec.cluster) } }] : []),
    ],
  };
}

const hasTls = ({ spec: { tls } }: Named): boolean =>
  tls.clients.mode === 'Mutual' || tls.peers.mode === 'Mutual';

function dataVolume(peer: Named) {
  if (hasClaim(peer)) {
    return { name: DATA, persistentVolumeClaim: { claimName: claimName(peer.name) } };
  }
  const { size } = peer.spec.storage;
  return { name: DATA, emptyDir: { medium: 'Memory', sizeLimit: size } };
}

function container(peer: Named, isBorn: boolean) {
  const { image, resources, storage } = peer.spec;
  // The same limit is for what is stored in memory.
  const storedBytes = hasClaim(peer) ? 0 : quantityOf(storage.size);
  const env = [...goMemoryLimit(resources.limits, storedBytes), ...startOf(peer)];
  return {
    name: 'etcd',
    image,
    command: ['/usr/local/bin/etcd'],
    args: [...flagsOf(peer), ...bootstrapFlags(peer, isBorn)],
    ports: [
      containerPort('client', CLIENT_PORT),
      containerPort('peer', PEER_PORT),
      containerPort('metrics', METRICS_PORT),
    ],
    // The API server keeps no empty list, and the StatefulSet would never be as rendered.
    ...(env.length === 0 ? {} : { env }),
    volumeMounts: [
      { name: DATA, mountPath: VOLUME_DIR },
      ...(hasTls(peer) ? [{ name: TLS, mountPath: TLS_DIR, readOnly: true }] : []),
    ],
    ...PROBES,
    // The last lines of its log tell etcd-cluster whether it refuses its data.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    resources,
    ...CONTAINER_BOUNDS,
  };
}

function startOf({ spec }: Named) {
  const { start: key } = spec.bootstrap;
  if (key === undefined) return [];
  const secretKeyRef = { name: startsSecretName(spec.cluster), key };
  return [{ name: START, valueFrom: { secretKeyRef } }];
}

const containerPort = (name: string, port: number) => ({
  name,
  containerPort: port,
  protocol: 'TCP',
});
