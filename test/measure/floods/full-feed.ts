// A feed of as many pods as are asked for, written without an API server that would have to hold
// them: `locate` reads nothing else.
import { inParallel } from '../../../knative/try/local/cluster/in-parallel.ts';
import { systemClock } from '../../../shared/clock.ts';
import { FeedWriter } from '../../builders/feed-writer.ts';
import type { World } from './shipped.ts';

const FEED = 'cluster';
/** Asked about by floods. */
const NAMESPACE = 'others';
const NODES = 5_000;
const APPS = 300;
const WRITES_AT_ONCE = 100;

export async function fillFeed({ plane }: World, pods: number): Promise<void> {
  const writer = await FeedWriter.open(plane.part('nats-server').url, FEED);
  try {
    await writer.begin();
    const indexes = Array.from({ length: pods }, (_, index) => index);
    await inParallel(indexes, WRITES_AT_ONCE, (index) => put(writer, index));
  } finally {
    await writer.close();
  }
}

async function put(writer: FeedWriter, index: number): Promise<void> {
  const app = `app-${index % APPS}`;
  const key = { resource: 'pods', namespace: NAMESPACE, name: `pod-${index}` };
  await writer.put({ node: `node-${index % NODES}` }, key, {
    created: new Date(systemClock.nowMs()).toISOString(),
    owner: { kind: 'ReplicaSet', name: app, uid: `uid-of-${app}` },
    labels: { app, 'app.kubernetes.io/part-of': 'shop', 'pod-template-hash': `hash-${app}` },
    phase: 'Running',
    ready: true,
    ips: [`10.${Math.floor(index / 62_500)}.${Math.floor(index / 250) % 250}.${index % 250}`],
    containers: [
      { name: 'a', image: 'registry.example/a:1', id: `containerd://${index}`, state: 'running' },
    ],
  });
}
