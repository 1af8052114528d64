// A node's credentials: enough for a replica of that node, and for nothing of another one.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolvePart } from '../../../knative/local/parts/resolve.ts';
import { natsServerSpec } from '../../../knative/local/plane/nats-server.ts';
import { type Plane, startPlane } from '../../../knative/local/plane/plane.ts';
import { freePort } from '../../../knative/local/process/ports.ts';
import { openReplica } from '../../../shared/nats/replica/replica.ts';
import { FeedWriter } from '../../builders/feed-writer.ts';
import { PATIENCE, heldBy, node1, node2, pod } from './world.ts';

const CONFIG = `
authorization {
  users = [
    { user: writer, password: w }
    {
      user: n1
      password: secret
      permissions {
        publish: [
          "$JS.API.DIRECT.GET.ballast-f.ballast.f.all._.feed"
          "$JS.API.DIRECT.GET.ballast-f.ballast.f.all._.floor"
          "$JS.API.CONSUMER.CREATE.ballast-f.*.ballast.f.node.n1.>"
          "$JS.API.CONSUMER.CREATE.ballast-f.*.ballast.f.all._.>"
          "$JS.API.CONSUMER.MSG.NEXT.ballast-f.*"
        ]
        subscribe: ["ballast-live.f.node.n1.>", "ballast-live.f.all._.>", "_INBOX.n1.>"]
      }
    }
    {
      user: deaf
      password: secret
      permissions { publish: ["$JS.API.>"], subscribe: ["_INBOX.>"] }
    }
  ]
}
`;

let plane: Plane;
let feed: FeedWriter;
let address: string;

beforeAll(async () => {
  plane = await startPlane({ parts: [] });
  const config = join(plane.dir, 'nats.conf');
  const [binary, port, monitorPort] = await Promise.all([
    resolvePart('nats-server'),
    freePort(),
    freePort(),
    writeFile(config, CONFIG),
  ]);
  const spec = natsServerSpec({ binary, dir: plane.dir, port, monitorPort });
  await plane.add({ ...spec, args: [...spec.args, `--config=${config}`] });
  address = `127.0.0.1:${port}`;
  feed = new FeedWriter(await connect({ servers: address, user: 'writer', pass: 'w' }), 'f');
  await feed.begin();
  await feed.put(node1, pod('mine'));
  await feed.put(node2, pod('theirs'));
});

afterAll(async () => {
  await feed.close();
  await plane.stop();
});

const replicaOf = (node: string) =>
  openReplica({
    url: `nats://n1:secret@${address}`,
    feed: 'f',
    scope: { node },
    inboxPrefix: '_INBOX.n1',
  });

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
    url: `nats://n1:secret@${address}`,
    feed: 'f',
    scope: node1,
    inboxPrefix: '_INBOX.n1',
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
  const url = `nats://deaf:secret@${address}`;
  const replica = openReplica({ url, feed: 'f', scope: node1 });
  const phases = new Set<string>();
  replica.watchState(({ phase }) => phases.add(phase));
  await expect.poll(() => replica.counts.disconnects, PATIENCE).toBeGreaterThan(3);
  expect(replica.state.why).toMatch(/permissions violation.*subscription/i);
  expect([...phases]).toEqual(['connecting']);
  await replica.close();
});

test('nor can these credentials ask for it in other ways, or write', async () => {
  const nats = await connect({
    servers: address,
    user: 'n1',
    pass: 'secret',
    inboxPrefix: '_INBOX.n1',
  });
  const ask = (subject: string, body: object): Promise<unknown> =>
    nats.request(subject, JSON.stringify(body), { timeout: 2_000 });
  const filter = 'ballast.f.node.n2.>';
  const config = { name: 'x', filter_subject: filter, ack_policy: 'none', mem_storage: true };
  const create = { stream_name: 'ballast-f', config };
  const answer = (await nats.request(
    '$JS.API.CONSUMER.CREATE.ballast-f.x.ballast.f.all._.>',
    JSON.stringify(create),
  )) as { json(): { error?: { description: string } } };
  expect(answer.json().error?.description).toMatch(/filter/i);
  const refused: readonly (readonly [string, object])[] = [
    [`$JS.API.CONSUMER.CREATE.ballast-f.x.${filter}`, create],
    ['$JS.API.CONSUMER.CREATE.ballast-f', create],
    ['$JS.API.DIRECT.GET.ballast-f.ballast.f.node.n2.pods.web.theirs', {}],
    ['$JS.API.DIRECT.GET.ballast-f', { last_by_subj: 'ballast.f.node.n2.pods.web.theirs' }],
    ['$JS.API.STREAM.PURGE.ballast-f', {}],
    ['ballast.f.node.n1.pods.web.forged', {}],
  ];
  for (const [subject, body] of refused) {
    await expect(ask(subject, body)).rejects.toThrow(/permissions violation/i);
  }
  await nats.close();
});
