// The others in the world of a takeover of a NatsCluster: the function that runs the new one, the
// kubelet, and the operator of the old one, which makes pods anew as long as it runs.
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { CLAIMS, PODS, SERVICES, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import type { KubeModel } from '../stateful/kube-model.ts';
import { putChartPod } from './chart-world.ts';
import { putServer } from './nats-world.ts';
import { at } from './others-at-work.ts';
import { namespace } from './world.ts';

const REPLICAS_MAX = 5;
const SERVERS = ['old-1', 'old-2', 'old-3'];

export const isNew = (pod: string): boolean => pod.startsWith('new-');

export const ipOf = (pod: string): string => `10.0.${isNew(pod) ? 2 : 1}.${pod.at(-1)}`;

/** Those that run. */
export const podNames = (kube: KubeModel): readonly string[] =>
  [...kube.of('pods').values()].map(({ metadata }) => metadata.name);

/** Old pods to which the new servers have a route, as they run. */
export function routedPods(kube: KubeModel): readonly string[] {
  const server = kube.objects.get(`pods/${namespace}/new-0`);
  const routes: readonly string[] = Object(server?.['status']).routes ?? [];
  return routes.map((route) => route.slice(0, route.indexOf('.')));
}

/** It is Ready once its users have passwords; an edit is brought to the servers in a moment. */
export function runCluster(kube: KubeModel): void {
  const cluster = kube.objects.get(`natsclusters/${namespace}/new`);
  if (cluster === undefined || !kube.objects.has(`secrets/${namespace}/new-users`)) return;
  const { uid, generation } = cluster.metadata;
  const seen = Object(cluster['status']).observedGeneration;
  if (seen === generation) return;
  if (seen === undefined) makeParts(kube, uid);
  const ready = { type: 'Ready', status: 'True', reason: 'Whole', message: 'It is.' };
  const routes = Object(cluster['spec']).extraRoutes ?? [];
  kube.change(PODS, at('new-0'), { status: { routes } });
  const status = { observedGeneration: generation, conditions: [ready] };
  kube.change(NATS_CLUSTERS, at('new'), { status });
}

function makeParts(kube: KubeModel, uid: string): void {
  const owner = { apiVersion: 'ballast.dev/v1alpha1', kind: 'NatsCluster', name: 'new', uid };
  const labels = { 'ballast.dev/nats-cluster': 'new' };
  const own = { labels, ownerReferences: [owner] };
  const of = (kind: string, name: string, metadata: object = own) => ({
    apiVersion: 'v1',
    kind,
    metadata: { ...at(name), ...metadata },
  });
  kube.put(STATEFUL_SETS, of('StatefulSet', 'new'));
  for (const name of ['new', 'new-headless']) kube.put(SERVICES, of('Service', name));
  for (const name of ['new-0', 'new-1', 'new-2']) {
    kube.put(CLAIMS, of('PersistentVolumeClaim', `data-${name}`, { labels }));
    const status = { phase: 'Running', podIP: ipOf(name) };
    kube.put(PODS, { ...of('Pod', name), status });
  }
}

export function runKubelet(kube: KubeModel): void {
  for (const { metadata } of kube.of('pods').values()) {
    if (metadata.deletionTimestamp !== undefined) kube.remove(PODS, at(metadata.name));
  }
}

/** A server that is gone comes back, behind the back of everybody. */
export function fight(kube: KubeModel): void {
  const operator = kube.objects.get(`deployments/${namespace}/nats-operator`);
  const isThere = kube.objects.has(`natsclusters/${namespace}/old`);
  if (!isThere || Number(Object(operator?.['spec']).replicas) === 0) return;
  const missing = SERVERS.filter((name) => !kube.objects.has(`pods/${namespace}/${name}`));
  for (const name of missing) putServer(name, {}, true, kube);
}

/** Makes pods of a chart as many as there are to be, each once its name is free. */
export function runStatefulSet(kube: KubeModel): void {
  const set = kube.objects.get(`statefulsets/${namespace}/old`);
  if (set === undefined) return;
  const { replicas } = Object(set['spec']) as { readonly replicas: number };
  for (let ordinal = 0; ordinal < REPLICAS_MAX; ordinal += 1) {
    const isThere = kube.objects.has(`pods/${namespace}/old-${ordinal}`);
    if (ordinal >= replicas && isThere) kube.remove(PODS, at(`old-${ordinal}`));
    if (ordinal < replicas && !isThere) putChartPod(ordinal, kube);
  }
}
