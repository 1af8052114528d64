// A member at rest: its pod runs with the volume that it began with. Each test in this folder says
// only what differs.
import { type Peer, peerOf } from '../../../functions/etcd-peer/peer.ts';
import { render } from '../../../functions/etcd-peer/render/stateful-set.ts';
import type { FoundSet, PeerClaim, PeerPod, State } from '../../../functions/etcd-peer/state.ts';
import {
  ETCD_PEER_FINALIZER,
  type EtcdPeerSpec,
  type EtcdPeerStatus,
} from '../../../shared/api/etcd-peer.ts';

export const NOW_MS = Date.parse('2026-01-02T00:00:00Z');

/** As etcd-cluster writes it. */
export const SPEC: EtcdPeerSpec = {
  cluster: 'main',
  ordinal: 1,
  bootstrap: {
    state: 'New',
    token: 'c1',
    initialCluster: [{ name: 'main-1', url: 'https://main-1-0.main-headless.shop.svc:2380' }],
  },
  running: true,
  certificatesHash: 'h1',
  image: 'quay.io/coreos/etcd:v3.6.16',
  storage: { medium: 'Volume', size: '10Gi' },
  tls: { clients: { mode: 'Mutual' }, peers: { mode: 'Mutual' } },
  quota: '2Gi',
  compaction: { mode: 'Periodic', retention: '1h' },
  heartbeatMilliseconds: 100,
  electionMilliseconds: 1_000,
  snapshotCount: 10_000,
  resources: { limits: { memory: '1Gi' } },
  spread: 'Preferred',
};

export interface Differences {
  readonly spec?: Partial<EtcdPeerSpec>;
  readonly status?: EtcdPeerStatus;
  readonly isEnding?: boolean;
  readonly finalizers?: readonly string[];
  readonly statefulSet?: Partial<FoundSet> | null;
  readonly pod?: Partial<PeerPod> | null;
  readonly claim?: Partial<PeerClaim> | null;
  readonly more?: Partial<State>;
}

export function peer({ spec, status, isEnding, finalizers }: Differences = {}): Peer {
  return peerOf({
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'EtcdPeer',
    metadata: {
      namespace: 'shop',
      name: 'main-1',
      uid: 'u1',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      finalizers: [...(finalizers ?? [ETCD_PEER_FINALIZER])],
      ...(isEnding === true ? { deletionTimestamp: '2026-01-01T12:00:00Z' } : {}),
    },
    spec: { ...SPEC, ...spec },
    status: status ?? { claimUid: 'v1' },
  });
}

export const CLAIM: PeerClaim = {
  name: 'data-main-1',
  uid: 'v1',
  resourceVersion: '5',
  phase: 'Bound',
  size: '10Gi',
  storageClassName: 'fast',
  accessMode: 'ReadWriteOncePod',
  createdAt: '2026-01-01T00:00:00Z',
  node: undefined,
  volume: 'pv-1',
  isEnding: false,
  isOurs: true,
  clusterId: undefined,
};

export function state(differences: Differences = {}): State {
  const { statefulSet, pod, claim, more } = differences;
  const own = peer(differences);
  const rendered = render(own, { isBorn: false });
  const { templateHash } = rendered;
  const set: FoundSet = {
    uid: 's1',
    resourceVersion: '7',
    replicas: 1,
    templateHash,
    isOurs: true,
    isAsRendered: true,
    isEnding: false,
  };
  const running: PeerPod = {
    name: 'main-1-0',
    uid: 'p1',
    resourceVersion: '9',
    ip: '10.0.0.1',
    isReady: true,
    isEnding: false,
    templateHash,
    placelessSince: undefined,
    trouble: undefined,
    crash: undefined,
    unreadySince: undefined,
    isOurs: true,
  };
  return {
    peer: own,
    nowMs: NOW_MS,
    rendered,
    statefulSet: statefulSet === null ? undefined : { ...set, ...statefulSet },
    pod: pod === null ? undefined : { ...running, ...pod },
    claim: claim === null ? undefined : { ...CLAIM, ...claim },
    growth: undefined,
    pending: undefined,
    ...more,
  };
}
