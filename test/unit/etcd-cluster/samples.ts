// A cluster of three members at rest, for the unit tests in this folder: each test says only what
// differs.
import { clusterOf, peerUrl } from '../../../functions/etcd-cluster/cluster.ts';
import type {
  EtcdState,
  Member,
  MemberAnswer,
} from '../../../functions/etcd-cluster/etcd-state.ts';
import { existingBootstrap, specOf } from '../../../functions/etcd-cluster/peer-spec.ts';
import type { Parts, Peer, PeerClaim, State } from '../../../functions/etcd-cluster/state.ts';
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../../shared/api/etcd-cluster.ts';
import type { Pod } from '../../../shared/stateful/pods.ts';

export const NOW_MS = Date.parse('2026-01-02T00:00:00Z');
/** 0xc1 is cluster 193 in etcd's own numbers. */
const CLUSTER_ID = 'c1';

/** As the API server fills it in. */
export const SPEC: EtcdClusterSpec = {
  replicas: 3,
  image: 'quay.io/coreos/etcd:v3.6.16',
  storage: { medium: 'Volume', size: '10Gi' },
  tls: { clients: { mode: 'Mutual' }, peers: { mode: 'Mutual' } },
  quota: '2Gi',
  compaction: { mode: 'Periodic', retention: '1h' },
  heartbeatMilliseconds: 100,
  electionMilliseconds: 1_000,
  snapshotCount: 10_000,
  resources: { limits: { memory: '2Gi' } },
  spread: 'Preferred',
  networkPolicy: 'Open',
  defragmentation: { mode: 'Automatic' },
  paused: false,
};

const STATUS: EtcdClusterStatus = {
  clusterId: CLUSTER_ID,
  bootstrap: { seed: 'etcd-0', since: '2026-01-01T00:00:00Z' },
};

export interface Differences {
  readonly spec?: Partial<EtcdClusterSpec>;
  readonly status?: Partial<EtcdClusterStatus>;
  /** Nothing of these in the status, as before it was born. */
  readonly without?: readonly (keyof EtcdClusterStatus)[];
  readonly deletionTimestamp?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Ordinals of the members; the first `replicas` when absent. */
  readonly ordinals?: readonly number[];
  readonly parts?: Partial<Parts>;
  readonly peers?: (peers: readonly Peer[]) => readonly Peer[];
  readonly pods?: (pods: readonly Pod[]) => readonly Pod[];
  readonly claims?: (claims: readonly PeerClaim[]) => readonly PeerClaim[];
  readonly strays?: State['strays'];
  readonly lost?: Readonly<Record<string, string>>;
  readonly etcd?: (etcd: EtcdState, cluster: State['cluster']) => EtcdState;
  readonly schedules?: State['backups']['schedules'];
  readonly nowMs?: number;
}

function cluster(differences: Differences = {}) {
  const { spec, status, without = [], deletionTimestamp, annotations } = differences;
  const all = { ...STATUS, ...status };
  const kept = Object.entries(all).filter(([key]) => !without.some((one) => one === key));
  return clusterOf({
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: {
      namespace: 'shop',
      name: 'etcd',
      uid: 'u1',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(annotations === undefined ? {} : { annotations }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec: { ...SPEC, ...spec },
    status: Object.fromEntries(kept),
  });
}

export function state(differences: Differences = {}): State {
  const { parts, lost = {}, nowMs = NOW_MS } = differences;
  const own = cluster(differences);
  const { ordinals = Array.from({ length: own.spec.replicas }, (_, ordinal) => ordinal) } =
    differences;
  const names = ordinals.map((ordinal) => `etcd-${ordinal}`);
  const bare: State = {
    cluster: own,
    nowMs,
    parts: { ...PARTS, ...parts },
    peers: [],
    pods: [],
    claims: [],
    strays: differences.strays ?? [],
    lost: new Map(Object.entries(lost)),
    pending: new Map(),
    etcd: etcdOf(own, ordinals),
    backups: { schedules: differences.schedules ?? [] },
  };
  const peers = names.map((name) => peerFor(bare, name, [name]));
  const { pods = same, claims = same, etcd = same } = differences;
  return {
    ...bare,
    peers: (differences.peers ?? same)(peers),
    pods: pods(names.map(podFor)),
    claims: claims(names.map(claimFor)),
    etcd: etcd(bare.etcd, own),
  };
}

const same = <Value>(value: Value): Value => value;

const PARTS: Parts = {
  toMake: undefined,
  lacking: undefined,
  access: { tls: undefined },
  found: new Map(),
  wrong: [],
  policyRefusal: undefined,
  certificatesHash: 'h1',
  secrets: new Map(),
  notice: undefined,
};

export function peerFor(of: State, name: string, names: readonly string[]): Peer {
  return {
    name,
    uid: `peer of ${name}`,
    resourceVersion: '1',
    generation: 1,
    spec: specOf(of, name, existingBootstrap(of, names)),
    status: { observedGeneration: 1, templateHash: 't1', claimUid: `claim of ${name}` },
    isEnding: false,
    isOurs: true,
  };
}

const podFor = (name: string, index: number): Pod => ({
  name: `${name}-0`,
  uid: `pod of ${name}`,
  resourceVersion: '1',
  ip: `10.0.0.${index + 1}`,
  isReady: true,
  isEnding: false,
  templateHash: 't1',
  placelessSince: undefined,
  trouble: undefined,
  crash: undefined,
  unreadySince: undefined,
});

export const claimFor = (name: string): PeerClaim => ({
  name: `data-${name}`,
  uid: `claim of ${name}`,
  resourceVersion: '1',
  phase: 'Bound',
  size: '10Gi',
  storageClassName: 'standard',
  accessMode: 'ReadWriteOncePod',
  createdAt: '2026-01-01T00:00:00Z',
  node: undefined,
  volume: `volume of ${name}`,
  isEnding: false,
  clusterId: CLUSTER_ID,
  isKeptAside: false,
  version: '3.6.16',
  born: '3.6.16',
});

/** The first member leads. */
function etcdOf(own: State['cluster'], ordinals: readonly number[]): EtcdState {
  const members = ordinals.map((ordinal) => memberFor(own, ordinal));
  const leaderId = members[0]?.id;
  return {
    list: members.length === 0 ? undefined : { clusterId: '193', members },
    answers: new Map(members.map((member) => [member.name, answerFor(member, { leaderId })])),
    alarms: [],
    silent: new Map(),
    views: new Map(),
  };
}

const memberFor = (own: State['cluster'], ordinal: number, isLearner = false): Member => ({
  id: String(1_000 + ordinal),
  name: `etcd-${ordinal}`,
  peerUrls: [peerUrl(own, `etcd-${ordinal}`)],
  isLearner,
});

const answerFor = (
  { id, isLearner }: Member,
  differences: Partial<MemberAnswer> = {},
): MemberAnswer => ({
  memberId: id,
  clusterId: '193',
  version: '3.6.16',
  leaderId: '1000',
  isLearner,
  databaseBytes: 100_000,
  databaseBytesInUse: 90_000,
  revision: '500',
  quotaBytes: 2 ** 31,
  raftIndex: 20_000,
  raftAppliedIndex: 20_000,
  storageVersion: '3.6.0',
  downgradeTo: undefined,
  ...differences,
});

/** Members that do not answer; the others still know them. */
export const silent =
  (...names: readonly string[]): NonNullable<Differences['etcd']> =>
  (etcd) => ({
    ...etcd,
    answers: new Map([...etcd.answers].filter(([name]) => !names.includes(name))),
    silent: new Map(names.map((name) => [name, 'no route to host'])),
  });

/** Nobody answers, or those who do are too few to agree. */
export const noQuorum: NonNullable<Differences['etcd']> = (etcd) => ({
  ...etcd,
  list: undefined,
  answers: new Map(),
});

/** It is told among whom it is to join. */
export const joining = (ordinal: number): Pick<Parts, 'starts'> => ({
  starts: {
    data: { [`etcd-${ordinal}.${(1_000 + ordinal).toString(16)}`]: '' },
    resourceVersion: '7',
  },
});

/** One more member, which does not vote yet. */
export const withLearner =
  (ordinal: number, answer?: Partial<MemberAnswer>): NonNullable<Differences['etcd']> =>
  (etcd, own) => {
    const learner = { ...memberFor(own, ordinal, true), ...(answer ? {} : { name: '' }) };
    const list = etcd.list && { ...etcd.list, members: [...etcd.list.members, learner] };
    const told = answer && ([`etcd-${ordinal}`, answerFor(learner, answer)] as const);
    return { ...etcd, list, answers: new Map([...etcd.answers, ...(told ? [told] : [])]) };
  };
