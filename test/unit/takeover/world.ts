// The world of a takeover on a model of the API server: EtcdCluster shop/old as its operator left
// it, with three members, and Takeover shop/over. A test says what differs.
import type { Deps } from '../../../functions/takeover/deps.ts';
import {
  LEGACY_ETCDS,
  type TakeoverPlan,
  TAKEOVERS,
  type TakeoverStatus,
} from '../../../shared/api/takeover.ts';
import { Failure } from '../../../shared/errors.ts';
import type { LegacyAnswer } from '../../../shared/etcd/legacy.ts';
import { KubeError } from '../../../shared/kube/errors.ts';
import type { Monitored } from '../../../shared/nats/monitor.ts';
import { CLAIMS, PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import { KubeModel } from '../stateful/kube-model.ts';
import { depsIn, sweepWith } from './function-in.ts';

export const NOW_MS = Date.parse('2026-11-26T07:00:00Z');
export const namespace = 'shop';
export const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' } as const;
const LEGACY_TYPE = 'etcd.database.coreos.com/v1beta2';
export const PODS_OF_OLD = ['old-a', 'old-b', 'old-c'] as const;

/** Begun anew before each test. */
export const world = {
  kube: new KubeModel(),
  /** By the address of the pod; a text for one that does not answer. */
  answers: new Map<string, LegacyAnswer | string>(),
  /** The same of servers of NATS. */
  servers: new Map<string, Monitored | string>(),
  owner: {} as object,
};

const labels = { app: 'etcd', etcd_cluster: 'old' };

/** Nothing is there. */
export function beginEmpty(): void {
  world.kube = new KubeModel();
  world.answers = new Map();
}

export function begin({ legacy = {}, spec = {} }: { legacy?: object; spec?: object } = {}): void {
  beginEmpty();
  world.answers = new Map(PODS_OF_OLD.map((name, at) => [addressOf(name), answerOf(at)]));
  const { metadata } = world.kube.put(LEGACY_ETCDS, {
    apiVersion: LEGACY_TYPE,
    kind: 'EtcdCluster',
    metadata: { namespace, name: 'old' },
    spec: { size: 3, version: '3.3.27', ...legacy },
  });
  const { uid } = metadata;
  world.owner = { apiVersion: LEGACY_TYPE, kind: 'EtcdCluster', name: 'old', uid };
  for (const name of PODS_OF_OLD) putPod(name, name === 'old-a' ? undefined : name);
  putService('old');
  putService('old-client');
  putClaim('old-b');
  putClaim('old-c');
  putTakeover(spec);
}

const addressOf = (pod: string): string => `10.0.0.${pod.charCodeAt(4)}`;

/** Members are numbered by their address, whatever network their operator puts them into. */
export const placeOf = (url: string): number =>
  Number(new URL(url).hostname.split('.')[3]) - 'a'.charCodeAt(0);

export function putTakeover(spec: object = {}): void {
  world.kube.put(TAKEOVERS, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'Takeover',
    metadata: { namespace, name: 'over' },
    spec: {
      legacy: { apiVersion: LEGACY_TYPE, kind: 'EtcdCluster', name: 'old' },
      mode: 'Restore',
      // The model fills in no defaults.
      into: { name: 'new', spec: { quota: '2Gi' } },
      ...spec,
    },
  });
}

const owned = (isOwned: boolean): object => (isOwned ? { ownerReferences: [world.owner] } : {});

export function putPod(
  name: string,
  claim: string | undefined,
  isOwned = true,
  livenessProbe: object = { exec: { command: ['/bin/sh', '-ec', 'etcdctl endpoint status'] } },
): void {
  const volume =
    claim === undefined ? { emptyDir: {} } : { persistentVolumeClaim: { claimName: claim } };
  world.kube.put(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels, ...owned(isOwned) },
    spec: {
      volumes: [{ name: 'etcd-data', ...volume }],
      containers: [{ name: 'etcd', livenessProbe }],
    },
    status: { phase: 'Running', podIP: addressOf(name) },
  });
}

export function putService(name: string, isOwned = true, selector: object = labels): void {
  const metadata = { namespace, name, labels, ...owned(isOwned) };
  world.kube.put(SERVICES, { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector } });
}

export function putClaim(name: string, isOwned = true): void {
  const metadata = { namespace, name, labels, ...owned(isOwned) };
  world.kube.put(CLAIMS, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata });
}

export function putOperator(replicas: number, template: object = {}): void {
  const container = { image: 'quay.io/coreos/etcd-operator:v0.9.4', ...template };
  world.kube.put(DEPLOYMENTS, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: 'etcd-operator' },
    spec: { replicas, template: { spec: { containers: [container] } } },
  });
}

/** The member at this place, of three that know each other; the first leads. */
export function answerOf(at: number, changes: Partial<LegacyAnswer['status']> = {}): LegacyAnswer {
  const idOf = (one: number): string => String(100 + one);
  return {
    status: {
      header: { clusterId: '7', memberId: idOf(at), revision: '9', raftTerm: 2 },
      version: '3.3.27',
      storageVersion: undefined,
      dbSizeBytes: 20_480,
      dbSizeInUseBytes: 0,
      quotaBytes: undefined,
      leaderId: idOf(0),
      raftTerm: 2,
      raftIndex: 12,
      raftAppliedIndex: 0,
      isLearner: false,
      errors: [],
      alarms: [],
      downgradeTo: undefined,
      ...changes,
    },
    members: PODS_OF_OLD.map((name, one) => ({
      id: idOf(one),
      name,
      peerUrls: [`http://${name}.old.shop.svc:2380`],
      clientUrls: [`http://${name}.old.shop.svc:2379`],
      isLearner: false,
    })),
    isQuorate: true,
    hasAuth: false,
    hasV2Keys: false,
  };
}

export function answer(pod: string, said: LegacyAnswer | string): void {
  world.answers.set(addressOf(pod), said);
}

/** How a member was asked last. */
export const asked: { endpoint?: object; tls?: object | undefined } = {};

const depsOf = (): Deps =>
  depsIn(
    world.kube,
    { nowMs: () => NOW_MS, sleep: async () => undefined },
    {
      monitor: async (origin) => {
        const said = world.servers.get(new URL(origin).hostname) ?? 'It does not answer.';
        if (typeof said === 'string') throw new Failure('NATS_UNAVAILABLE', said);
        return said;
      },
      ask: async (endpoint, tls) => {
        Object.assign(asked, { endpoint, tls });
        const said = world.answers.get(new URL(endpoint.url).hostname) ?? 'nobody is there';
        if (typeof said === 'string') throw new Failure('ETCD_UNAVAILABLE', said);
        return said;
      },
    },
  );

/** The writes of one sweep, but for Events. */
export async function sweep(): Promise<readonly string[]> {
  const before = world.kube.writes.length;
  await sweepWith(depsOf());
  return world.kube.writes.slice(before).filter((one) => !one.startsWith('create events'));
}

export const statusOf = (): TakeoverStatus =>
  [...world.kube.of('takeovers').values()][0]?.['status'] ?? {};

export async function plan(): Promise<TakeoverPlan> {
  await sweep();
  const found = statusOf().plan;
  if (found === undefined) throw new Error('there is no plan');
  return found;
}

/** Each object with what becomes of it. */
export const fates = async (): Promise<readonly string[]> =>
  (await plan()).objects.map(({ action, kind, name }) => `${action} ${kind} ${name}`);

/** The reasons of what is to know. */
export const notes = async (): Promise<readonly string[]> =>
  (await plan()).notes.map(({ reason }) => reason);

export const noteOf = async (reason: string): Promise<string | undefined> =>
  (await plan()).notes.find((one) => one.reason === reason)?.message;

/** The reasons of what speaks against it. */
export const refusals = async (): Promise<readonly string[]> =>
  (await plan()).refusals.map(({ reason }) => reason);

/** The refusals as a person reads them, one on each line. */
export async function refusal(): Promise<string> {
  const { refusals: all } = await plan();
  return all.map(({ reason, message }) => `${reason}: ${message}`).join('\n');
}

/** The spec of the new EtcdCluster, as a plan has the API server check it. */
export async function specTried(): Promise<unknown> {
  const create = world.kube.create.bind(world.kube);
  let tried: unknown;
  world.kube.create = async (ref, manifest, options) => {
    if (ref.resource === 'etcdclusters') tried = manifest['spec'];
    return create(ref, manifest, options);
  };
  await plan();
  world.kube.create = create;
  return tried;
}

export const conditionOf = (type: string): string => {
  const found = statusOf().conditions?.find((one) => one.type === type);
  return `${found?.status} ${found?.reason}`;
};

export const forbid = (resource: string, forbidden: string): void => {
  const get = world.kube.get.bind(world.kube);
  world.kube.get = async (ref, target) => {
    if (ref.resource !== resource || target.name !== forbidden) return get(ref, target);
    const message = `cannot get resource "${resource}" in API group "" in the namespace "shop"`;
    const answered = { statusCode: 403, reason: 'Forbidden', message, causes: [] };
    throw new KubeError('KUBE_FORBIDDEN', message, { verb: 'get', ref }, { answer: answered });
  };
};
