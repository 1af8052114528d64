// NatsCluster shop/old as the NATS operator left it, with three servers, in the world of takeovers,
// and Takeover shop/over of it. A test says what differs.
import { LEGACY_NATS } from '../../../shared/api/takeover.ts';
import type { Monitored } from '../../../shared/nats/monitor.ts';
import { PODS, SECRETS, SERVICES } from '../../../shared/stateful/parts.ts';
import { configText } from '../../builders/legacy-nats.ts';
import { KubeModel } from '../stateful/kube-model.ts';
import { DEPLOYMENTS, namespace, putTakeover, world } from './world.ts';

const LEGACY_TYPE = 'nats.io/v1alpha2';
const labels = { app: 'nats', nats_cluster: 'old' };
const SERVERS = ['old-1', 'old-2', 'old-3'];
export const USERS = { users: [{ username: 'web', password: 'known to nobody else' }] };

const ipOf = (pod: string): string => `10.0.1.${pod.at(-1)}`;

interface Differs {
  readonly legacy?: object;
  readonly config?: object;
  readonly into?: object;
}

export function beginNats({ legacy = {}, config = {}, into = {} }: Differs = {}): void {
  world.kube = new KubeModel();
  const { metadata } = world.kube.put(LEGACY_NATS, {
    apiVersion: LEGACY_TYPE,
    kind: 'NatsCluster',
    metadata: { namespace, name: 'old' },
    spec: { size: 3, version: '2.1.9', ...legacy },
  });
  const { uid } = metadata;
  world.owner = { apiVersion: LEGACY_TYPE, kind: 'NatsCluster', name: 'old', uid };
  world.servers = new Map();
  for (const name of SERVERS) putServer(name);
  putNatsService('old');
  putNatsService('old-mgmt');
  putConfig(configText({ authorization: USERS, ...config }));
  const taken = { apiVersion: LEGACY_TYPE, kind: 'NatsCluster', name: 'old' };
  putTakeover({ legacy: taken, mode: 'Route', into: { name: 'new', spec: into } });
}

const owned = (isOwned: boolean): object => (isOwned ? { ownerReferences: [world.owner] } : {});

export function putServer(
  name: string,
  port: object = {},
  isOwned = true,
  kube: KubeModel = world.kube,
): void {
  kube.put(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels, ...owned(isOwned) },
    spec: { containers: [{ name: 'nats', ports: [{ containerPort: 4222, ...port }] }] },
    status: { phase: 'Running', podIP: ipOf(name) },
  });
  says(name, {});
}

export const says = (name: string, changes: Partial<Monitored>): void => {
  const usual = {
    id: `N${name}`,
    version: '2.1.9',
    asksLogin: true,
    asksTls: false,
    hasStreams: false,
    clients: 0,
  };
  world.servers.set(ipOf(name), { ...usual, ...changes });
};

export const allSay = (changes: Partial<Monitored>): void => {
  for (const name of SERVERS) says(name, changes);
};

export function putNatsService(name: string, isOwned = true): void {
  const metadata = { namespace, name, labels, ...owned(isOwned) };
  const spec = { selector: labels };
  world.kube.put(SERVICES, { apiVersion: 'v1', kind: 'Service', metadata, spec });
}

export function putConfig(text: string): void {
  const metadata = { namespace, name: 'old', labels, ...owned(true) };
  const data = { 'nats.conf': Buffer.from(text).toString('base64') };
  world.kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, data });
}

export function putNatsOperator(replicas: number): void {
  const containers = [{ image: 'natsio/nats-operator:0.8.2' }];
  world.kube.put(DEPLOYMENTS, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: 'nats-operator' },
    spec: { replicas, template: { spec: { containers } } },
  });
}
