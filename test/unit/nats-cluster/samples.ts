// A cluster of three servers at rest, for the unit tests in this folder: each test says only what
// differs.
import { claim, NOW_MS, pod } from '../stateful/samples.ts';
import { clusterOf, serverNames } from '../../../functions/nats-cluster/cluster.ts';
import type { Credentials } from '../../../functions/nats-cluster/credentials.ts';
import { configDigest } from '../../../functions/nats-cluster/render/config.ts';
import { render } from '../../../functions/nats-cluster/render/manifests.ts';
import type {
  Group,
  NatsState,
  Peer,
  ServerState,
} from '../../../functions/nats-cluster/nats-state.ts';
import type { Parts, State } from '../../../functions/nats-cluster/state.ts';
import type { NatsClusterSpec, NatsClusterStatus } from '../../../shared/api/nats-cluster.ts';
import type { Pod } from '../../../shared/stateful/pods.ts';

/** As the API server fills it in. */
export const SPEC: NatsClusterSpec = {
  replicas: 3,
  image: 'nats:2.15.2',
  jetStream: { fileStorage: { size: '10Gi' } },
  lameDuck: { graceSeconds: 10, durationSeconds: 30 },
  resources: { limits: { memory: '1Gi' } },
  monitoringPort: 8222,
  networkPolicy: 'Open',
  spread: 'Preferred',
  unreplicatedStreams: 'Interrupt',
  paused: false,
};

export const CREDENTIALS: Credentials = {
  systemPassword: 'system',
  routePassword: 'route',
  passwords: new Map([['default', 'default']]),
  certificates: {},
};

export interface Differences {
  readonly spec?: Partial<NatsClusterSpec>;
  readonly status?: NatsClusterStatus;
  readonly deletionTimestamp?: string;
  /** Replicas of the StatefulSet; as the spec says when absent. */
  readonly size?: number;
  readonly parts?: Partial<Parts>;
  readonly pods?: (pods: readonly Pod[]) => readonly Pod[];
  readonly nats?: (nats: NatsState) => NatsState;
  readonly refusals?: ReadonlyMap<string, string>;
  readonly nowMs?: number;
}

/** The status of servers that were whole when they were observed last. */
const known = (count: number): NatsClusterStatus => ({
  servers: serverNames({ name: 'nats' }, count).map((name) => ({
    name,
    ready: true,
    lastContact: '2026-01-01T12:00:00Z',
  })),
});

export function cluster({ spec, status, size, deletionTimestamp }: Differences = {}) {
  const now = { ...SPEC, ...spec };
  return clusterOf({
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'NatsCluster',
    metadata: {
      namespace: 'shop',
      name: 'nats',
      uid: 'u1',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec: now,
    status: { ...known(size ?? now.replicas), ...status },
  });
}

export function state(differences: Differences = {}): State {
  const own = cluster(differences);
  const { size = own.spec.replicas, refusals = new Map(), nowMs = NOW_MS } = differences;
  const rendered = render(own, CREDENTIALS, { size, accessMode: 'ReadWriteOncePod' });
  const servers = serverNames(own, size);
  const statefulSet = { uid: 'set', resourceVersion: '5', replicas: size, storage: '10Gi' };
  const parts: Parts = {
    toMake: undefined,
    lacking: undefined,
    systemPassword: 'system',
    formerPasswords: [],
    trustedCa: '',
    saysTls: false,
    beforeTls: [],
    notice: undefined,
    servedUntilMs: undefined,
    known: undefined,
    secrets: new Map(),
    accounts: [],
    rendered,
    found: new Map([['statefulSet', statefulSet]]),
    wrong: [],
    policyRefusal: undefined,
    claims: servers.map((name) => claim(name)),
    lost: new Map(),
    pending: new Map(),
    growth: undefined,
    ...differences.parts,
  };
  const pods = servers.map((name) => pod(name, { templateHash: rendered.templateHash }));
  const seen = servers.map((name): [string, ServerState] => {
    const digest = configDigest(rendered.config, name);
    const told = { digest, healthErrors: [], reportsStreams: true };
    return [name, { name, id: `ID-${name}`, version: '2.15.2', ...told }];
  });
  const nats: NatsState = {
    servers: new Map(seen),
    meta: { leader: 'nats-0', size, peers: servers.map((one) => peer(one)) },
    groups: [],
  };
  return {
    cluster: own,
    nowMs,
    parts,
    pods: differences.pods?.(pods) ?? pods,
    nats: differences.nats?.(nats) ?? nats,
    refusals,
  };
}

export const peer = (server: string, isCurrent = true): Peer => ({
  server,
  peerId: `peer-${server}`,
  isCurrent,
});

export function stream(differences: Partial<Group> = {}): Group {
  const { members = [peer('nats-0'), peer('nats-1'), peer('nats-2')] } = differences;
  return {
    account: 'SHOP',
    stream: 'ORDERS',
    consumer: undefined,
    replicas: members.length,
    isInMemory: false,
    leader: members[0]?.server,
    isMoving: false,
    ...differences,
    members,
  };
}

/** These pods were made from another template. */
export const outdated =
  (...servers: readonly string[]) =>
  (pods: readonly Pod[]): readonly Pod[] =>
    pods.map((one) => (servers.includes(one.name) ? { ...one, templateHash: 'old' } : one));

/** These servers run on another configuration. */
export const misconfigured =
  (...servers: readonly string[]) =>
  (nats: NatsState): NatsState => ({
    ...nats,
    servers: new Map(
      [...nats.servers].map(([name, seen]) => [
        name,
        servers.includes(name) ? { ...seen, digest: 'old' } : seen,
      ]),
    ),
  });

export const withGroups =
  (...groups: readonly Group[]) =>
  (nats: NatsState): NatsState => ({ ...nats, groups });
