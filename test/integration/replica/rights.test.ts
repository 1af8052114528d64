// A node's credentials: enough for a replica of that node, and for nothing of another one.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import { openReplica } from '../../../shared/nats/replica/replica.ts';
import { FeedWriter } from '../../builders/feed-writer.ts';
import { PATIENCE, heldBy, node1, node2, pod } from './world.ts';

let plane: Plane;
let feed: FeedWriter;
let ownUrl: string;
let writerUrl: string;

beforeAll(async () => {
  const readers = [{ name: 'n1', feeds: ['f'], scope: node1 }];
  plane = await startPlane({ parts: ['nats-server'], natsReaders: readers });
  const { url, urls } = plane.part('nats-server');
  ownUrl = urls?.['n1'] ?? '';
  writerUrl = urls?.['metadata'] ?? '';
  feed = await FeedWriter.open(url, 'f');
  await feed.begin();
  await feed.put(node1, pod('mine'));
  await feed.put(node2, pod('theirs'));
});

afterAll(async () => {
  await feed.close();
  await plane.stop();
});

const replicaOf = (node: string) => openReplica({ url: ownUrl, feed: 'f', scope: { node } });

test('its own node is read, live and resumed', async () => {
  const replica = replicaOf('n1');
  await replica.whenCurrent();
  expect(Object.keys(heldBy(replica))).toEqual(['node.n1.pods.web.mine']);
  await feed.put(node2, pod('theirs-too'));
  const minVersion = await feed.put(node1, pod('later'));
  await replica.whenCurrent({ minVersion });
  const bookmark = replica.bookmark();
  await replica.close();
  const again = openReplica({
    url: ownUrl,
    feed: 'f',
    scope: node1,
    resumeFrom: bookmark,
  });
  await again.whenCurrent();
  expect(again.counts).toMatchObject({ resumes: 1, snapshots: 0, disconnects: 0 });
  expect(heldBy(again)).toEqual(feed.alive((subject) => subject.startsWith('node.n1.')));
  await again.close();
});

test('another node is not', async () => {
  const replica = replicaOf('n2');
  await expect
    .poll(() => replica.state.why, PATIENCE)
    .toMatch(/permissions violation.*ballast-live\.f\.node\.n2/i);
  expect(replica.catalog.size).toBe(0);
  await replica.close();
});

test('whoever may read what is stored, but hear nothing live, is never current', async () => {
  // As the function, which has no need to hear.
  const replica = openReplica({ url: writerUrl, feed: 'f', scope: node1, apiPrefix: '$JS.API' });
  const phases = new Set<string>();
  replica.watchState(({ phase }) => phases.add(phase));
  await expect.poll(() => replica.counts.disconnects, PATIENCE).toBeGreaterThan(3);
  expect(replica.state.why).toMatch(/permissions violation.*subscription/i);
  expect([...phases]).toEqual(['connecting']);
  await replica.close();
});

test('in the account of the streams, the API goes by its own name', async () => {
  const { url } = plane.part('nats-server');
  const replica = openReplica({ url, feed: 'f', scope: node2, apiPrefix: '$JS.API' });
  await replica.whenCurrent();
  expect(Object.keys(heldBy(replica))).toContain('node.n2.pods.web.theirs');
  await replica.close();
});
