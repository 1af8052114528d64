// Floods of each function beside plain requests: by objects that tenants write, by letters and
// ticks that somebody makes up, by questions, by files.
import { NATS_CLUSTER_LABEL } from '../../../shared/api/nats-cluster.ts';
import { inParallel } from '../../../knative/try/local/cluster/in-parallel.ts';
import type { Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import type { EventOf, Flood } from './http-floods.ts';
import type { World } from './shipped.ts';
import { eventHeaders } from './traffic.ts';
import { systemClock } from '../../../shared/clock.ts';

export const PODS: ResourceRef = { group: '', version: 'v1', resource: 'pods' };
const CRON_JOBS: ResourceRef = { group: 'batch', version: 'v1', resource: 'cronjobs' };
const NATS_CLUSTERS: ResourceRef = {
  group: 'ballast.dev',
  version: 'v1alpha1',
  resource: 'natsclusters',
};
const WRITES_AT_ONCE = 4;
const WRITE_TIMEOUT_MS = 60_000;
const HOLD_MS = 5_000;
export const TENANT = 'default';

export const manyLabels = (count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `tenant.example.com/a-label-of-usual-length-${index}`,
      `and-a-value-of-usual-length-${index}`,
    ]),
  );

export async function createAll(
  { kube }: World,
  ref: ResourceRef,
  manifests: readonly Manifest[],
): Promise<void> {
  const options = { timeoutMs: WRITE_TIMEOUT_MS };
  await inParallel(manifests, WRITES_AT_ONCE, (one) => kube.create(ref, one, options));
}

const POD_SPEC = { containers: [{ name: 'a', image: 'a:1' }] };

export const hugePod = (name: string, labels: Readonly<Record<string, string>>): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: TENANT, labels: { ...manyLabels(7_000), ...labels } },
  spec: POD_SPEC,
});

const hugeCronJob = (name: string): Manifest => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name, namespace: TENANT, labels: manyLabels(10_000) },
  spec: {
    schedule: '0 0 1 1 *',
    suspend: true,
    jobTemplate: { spec: { template: { spec: { ...POD_SPEC, restartPolicy: 'Never' } } } },
  },
});

/** As large as an object may be, and as small in its spec as can be. */
const hugeNatsCluster = (name: string): Manifest => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'NatsCluster',
  metadata: { name, namespace: TENANT, labels: manyLabels(10_000) },
  spec: { replicas: 1, jetStream: { fileStorage: { size: '1Gi' } } },
});

export const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** Events of many pods of another tenant, each again and again. */
export const podEvent: EventOf = (index) => ({
  type: 'dev.knative.apiserver.resource.update',
  data: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `pod-${index % 30_000}`,
      namespace: 'others',
      uid: `uid-${index % 30_000}`,
      resourceVersion: `${1_000_000 + index}`,
      creationTimestamp: new Date().toISOString(),
      labels: { app: `app-${index % 300}` },
    },
    spec: { nodeName: `node-${index % 100}`, ...POD_SPEC },
    status: { phase: 'Running', podIP: `10.1.${index % 250}.${index % 200}` },
  },
});

const sweepTick: EventOf = () => ({ type: 'dev.knative.sources.ping', data: {} });

export function ticks(name: string, count: number): Flood {
  return {
    name,
    run: async (_victim, crowd) => {
      const { type, data } = sweepTick(0);
      await crowd.send(count, () => ({
        headers: eventHeaders({ 'ce-type': type }),
        body: JSON.stringify(data),
      }));
      return count;
    },
  };
}

const hugePodEvents = (count: number): Flood => ({
  name: `${count} events of invented Pods with 7,000 labels`,
  run: async (_victim, crowd) => {
    const {
      spec,
      metadata: { labels },
    } = hugePod('huge', {});
    await crowd.send(count, (index) => {
      const { data, type } = podEvent(index);
      const { metadata, ...rest } = data as { metadata: object };
      const body = JSON.stringify({ ...rest, spec, metadata: { ...metadata, labels } });
      return { headers: eventHeaders({ 'ce-type': type }), body };
    });
    return count;
  },
});

export const metadataFloods = (world: World): readonly Flood[] => [
  hugePodEvents(300),
  {
    name: '100 CronJobs and 100 Pods with 7,000 to 10,000 labels, and two sweeps',
    run: async (victim, crowd) => {
      await createAll(world, CRON_JOBS, names('huge', 100).map(hugeCronJob));
      await createAll(
        world,
        PODS,
        names('huge', 100).map((name) => hugePod(name, {})),
      );
      await ticks('', 1).run(victim, crowd);
      await systemClock.sleep(HOLD_MS * 2);
      return 1 + (await ticks('', 1).run(victim, crowd));
    },
  },
  ticks('2,000 invented ticks', 2_000),
];

const MEMBER = NATS_CLUSTER_LABEL;

export const natsClusterFloods = (world: World): readonly Flood[] => [
  {
    name: '300 Pods with 7,000 labels that look like servers, and 100 events of them',
    run: async (_victim, crowd) => {
      const spec = { replicas: 1, jetStream: { fileStorage: { size: '1Gi' } } };
      const own = {
        ...hugeNatsCluster('mine'),
        metadata: { name: 'mine', namespace: TENANT },
        spec,
      };
      await createAll(world, NATS_CLUSTERS, [own]);
      const labels = { [MEMBER]: 'mine' };
      await createAll(
        world,
        PODS,
        names('mine', 300).map((name) => hugePod(name, labels)),
      );
      await crowd.send(100, () => ({
        headers: eventHeaders({ 'ce-type': 'dev.knative.apiserver.resource.update' }),
        body: JSON.stringify({
          kind: 'NatsCluster',
          metadata: { name: 'mine', namespace: TENANT },
        }),
      }));
      return 100;
    },
  },
  {
    name: '150 NatsClusters with 10,000 labels, and sweeps',
    run: async (victim, crowd) => {
      await createAll(world, NATS_CLUSTERS, names('huge', 150).map(hugeNatsCluster));
      return ticks('', 20).run(victim, crowd);
    },
  },
  ticks('200 invented ticks', 200),
];

export const deadLetterFloods = (): readonly Flood[] => [
  {
    name: '20,000 letters, each of another function, object and cause',
    run: async (_victim, crowd) => {
      await crowd.send(20_000, (index) => letter(index));
      return 20_000;
    },
  },
  {
    name: '5,000 invented ticks',
    run: async (_victim, crowd) => {
      await crowd.send(5_000, () => ({
        headers: eventHeaders({
          'ce-type': 'dev.knative.sources.ping',
          'ce-ballastfunction': 'dead-letters',
        }),
        body: '{}',
      }));
      return 5_000;
    },
  },
];

function letter(index: number) {
  const metadata = { name: `object-${index}`, namespace: TENANT, uid: `uid-${index}` };
  const object = { apiVersion: 'v1', kind: 'Pod', metadata };
  const answer = JSON.stringify({ code: `CODE_${index}`, detail: 'x'.repeat(2_500) });
  return {
    headers: eventHeaders({
      'ce-type': `type-${index}`,
      'ce-ballastfunction': `function-${index}`,
      'ce-apiversion': 'v1',
      'ce-kind': 'Pod',
      'ce-name': metadata.name,
      'ce-namespace': TENANT,
      'ce-knativeerrorcode': String(400 + (index % 100)),
      'ce-knativeerrordata': Buffer.from(answer).toString('base64'),
    }),
    body: JSON.stringify(object),
  };
}
