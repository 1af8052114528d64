// Nobody can do more than his rights on a feed say, whatever he sends: all of JetStream's API, all
// subjects, every form of answering somewhere else. On the accounts of `npm start` and of a
// NatsCluster, on one server, and on three with everybody at another one.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readerPermissions, writerPermissions } from '../../../../shared/nats/accounts.ts';
import { type Replica, openReplica } from '../../../../shared/nats/replica/replica.ts';
import { filtersOf } from '../../../../shared/nats/replica/scope.ts';
import { READER_API, STREAM_API, readerRights } from '../../../../shared/nats/rights.ts';
import { RawClient } from './raw-client.ts';
import { FEED, OTHER_FEED, READERS, Servers, type Whose } from './servers.ts';
import { PLACES, lets, messagesAbout, requestsAbout, subscriptionsTo } from './subjects.ts';

const STREAM = `ballast-${FEED}`;
const STORED = `ballast.${FEED}`;
const FEEDS = [FEED, OTHER_FEED];
const WITHIN = { timeout: 20_000 } as const;
const USERS = Object.entries(READERS);

const requests = [...new Set(FEEDS.flatMap(requestsAbout))];
const messages = [...new Set(FEEDS.flatMap(messagesAbout))];
const heard = [...new Set(FEEDS.flatMap(subscriptionsTo))];

/** Where an answer may do harm, or is heard by others. */
const ELSEWHERE = [
  ...[...requests, ...messages].filter((subject) => !/[*>]|^\$JS\.ACK|^_R_/.test(subject)),
  `${STREAM_API}.STREAM.DELETE.${STREAM}`,
];
/** Direct gets, pages and creates with nothing in them, and with what means something elsewhere. */
const BODIES = [
  '',
  '{}',
  '{"batch":5,"no_wait":true}',
  '{"batch":5,"expires":100000000,"idle_heartbeat":20000000}',
  `{"last_by_subj":"${STORED}.node.n2.pods.web.a"}`,
  `{"multi_last":["${STORED}.>"]}`,
  `{"batch":9,"seq":1,"next_by_subj":"${STORED}.>"}`,
];

describe.each<[Whose, number]>([
  ['npm start', 1],
  ['a NatsCluster', 3],
])('of %s, %i nats-server', (whose, count) => {
  let servers: Servers;
  let readers: readonly Replica[] = [];
  let before: unknown;

  const readerAs = (user: string, at: number): Replica =>
    openReplica({ url: servers.url(user, at), feed: FEED, scope: READERS[user] ?? 'cluster' });

  beforeAll(async () => {
    servers = await Servers.start(whose, count);
    readers = USERS.map(([user], index) => readerAs(user, index));
    await Promise.all(readers.map((reader) => reader.whenCurrent()));
    before = await servers.state();
  }, 60_000);

  afterAll(async () => {
    await Promise.all(readers.map((reader) => reader.close()));
    await servers?.stop();
  });

  /** Nothing happened to the streams, and every reader goes on as if nobody had said anything. */
  async function expectUnharmed(): Promise<void> {
    expect(await servers.state()).toEqual(before);
    const node = { resource: 'nodes', namespace: '', name: 'n1' };
    const minVersion = await servers.feed.put('all', node);
    for (const reader of readers) await reader.whenCurrent({ minVersion });
    const counts = { snapshots: 1, resumes: 0, gaps: 0, disconnects: 0, digestMismatches: 0 };
    for (const reader of readers) expect(reader.counts).toMatchObject(counts);
    before = await servers.state();
  }

  async function refusedOf(user: string, send: (client: RawClient) => void): Promise<string[]> {
    const client = await RawClient.open(servers.url(user, 1));
    send(client);
    await client.flush();
    client.close();
    return [...client.refused].toSorted();
  }

  test.each(USERS)('%s reads its own, and nothing else', async (user, scope) => {
    const reader = readers[USERS.findIndex(([name]) => name === user)];
    const filters = filtersOf(scope);
    const shown = [...servers.feed.held.keys()].filter((subject) => lets(filters, subject));
    expect([...(reader?.catalog.entries() ?? [])].map(({ subject }) => subject).toSorted()).toEqual(
      shown.toSorted(),
    );
    expect(shown.length).toBeGreaterThan(0);
  });

  test.each(USERS)(
    '%s may say what its rights name, of everything there is',
    async (user, scope) => {
      const { publish, subscribe } = readerPermissions([FEED], scope, user);
      const said = [...requests, ...messages];
      const refused = await refusedOf(user, (client) => {
        for (const subject of said) client.publish(subject);
      });
      expect(refused).toEqual(said.filter((subject) => !lets(publish, subject)).toSorted());
      for (const queue of ['', 'q']) {
        const deaf = await refusedOf(user, (client) => {
          for (const subject of heard) client.subscribe(subject, queue);
        });
        const ought = heard.filter((subject) => !lets(subscribe, subject));
        expect(deaf).toEqual(ought.toSorted());
      }
      await expectUnharmed();
    },
  );

  test.each(USERS)('%s cannot have an answer do harm, wherever it is sent', async (user, scope) => {
    const { publish } = readerPermissions([FEED], scope, user);
    const own = `${STORED}.${filtersOf(scope)[0]}`;
    const client = await RawClient.open(servers.url(user, 1));
    for (const [index, reply] of ELSEWHERE.entries()) {
      const name = `${user}-${index}`;
      client.publish(
        `${READER_API}.CONSUMER.CREATE.${STREAM}.${name}.${own}`,
        create(name, own),
        reply,
      );
      for (const body of BODIES) {
        client.publish(`${READER_API}.CONSUMER.MSG.NEXT.${STREAM}.${name}`, body, reply);
        for (const place of PLACES) {
          const subject = `${READER_API}.DIRECT.GET.${STREAM}.${STORED}.${place}`;
          if (lets(publish, subject)) client.publish(subject, body, reply);
        }
      }
    }
    await client.flush();
    expect([...client.refused]).toEqual([]);
    client.close();
    await expectUnharmed();
    await servers.removeConsumers();
  });

  test.each(USERS)('%s cannot have its messages pushed where they do harm', async (user, scope) => {
    const own = `${STORED}.${filtersOf(scope)[0]}`;
    const client = await RawClient.open(servers.url(user, 1));
    const said = ELSEWHERE.flatMap((deliver_subject) =>
      [
        {},
        { idle_heartbeat: 100_000_000 },
        { idle_heartbeat: 100_000_000, flow_control: true },
      ].map((more) => ({ deliver_subject, ...more })),
    );
    const names = said.map((_more, index) => `${user}-p${index}`);
    for (const [index, more] of said.entries()) {
      const name = names[index] ?? '';
      const subject = `${READER_API}.CONSUMER.CREATE.${STREAM}.${name}.${own}`;
      client.publish(subject, create(name, own, more), `_INBOX.${user}.x`);
    }
    // All of it again, so that what was delivered late has been.
    for (let round = 0; round < 3; round += 1) await client.flush();
    await expect.poll(async () => (await servers.consumers()).length, WITHIN).toBeGreaterThan(9);
    client.close();
    await expectUnharmed();
    await servers.removeConsumers();
  });

  test.each(USERS)('%s gets no consumer of what others read', async (user, scope) => {
    const own = `${STORED}.${filtersOf(scope)[0]}`;
    const filter = `${STORED}.>`;
    const forms = [
      { filter_subject: filter },
      { filter_subject: undefined },
      { filter_subject: undefined, filter_subjects: [filter] },
      { filter_subjects: [own, filter] },
      { durable_name: 'other' },
    ];
    const client = await RawClient.open(servers.url(user, 1));
    for (const [index, more] of forms.entries()) {
      const name = `${user}-f${index}`;
      const subject = `${READER_API}.CONSUMER.CREATE.${STREAM}.${name}.${own}`;
      client.publish(subject, create(name, own, more));
      const stream = `${READER_API}.CONSUMER.CREATE.${STREAM}.x${name}.${own}`;
      const body = JSON.parse(create(`x${name}`, own)) as object;
      client.publish(stream, JSON.stringify({ ...body, stream_name: `ballast-${OTHER_FEED}` }));
    }
    const last = `${user}-last`;
    client.publish(`${READER_API}.CONSUMER.CREATE.${STREAM}.${last}.${own}`, create(last, own));
    await client.flush();
    await expect
      .poll(async () => (await servers.consumers()).map(([name]) => name), WITHIN)
      .toContain(last);
    client.close();
    const made = (await servers.consumers()).filter(([name]) => name.includes(`${user}-`));
    const reach = made.map(([, of]) => of.slice(STORED.length + 1));
    expect(reach.filter((of) => !lets(filtersOf(scope), of))).toEqual([]);
    await expectUnharmed();
    await servers.removeConsumers();
  });

  test.each(USERS)('%s leaves no consumer behind that stays', async (user, scope) => {
    const own = `${STORED}.${filtersOf(scope)[0]}`;
    const client = await RawClient.open(servers.url(user, 1));
    const lives = [undefined, 0, -1, 1, 60_000_000_000, 60_000_000_001, 31_536_000_000_000_000];
    for (const [index, inactive_threshold] of lives.entries()) {
      for (const kind of ['durable', 'named']) {
        const name = `${user}-${kind}-${index}`;
        const durable = kind === 'durable' ? { durable_name: name } : {};
        const body = create(name, own, { inactive_threshold, ...durable });
        client.publish(`${READER_API}.CONSUMER.CREATE.${STREAM}.${name}.${own}`, body);
      }
    }
    const last = `${user}-stays-last`;
    client.publish(`${READER_API}.CONSUMER.CREATE.${STREAM}.${last}.${own}`, create(last, own));
    await client.flush();
    const made = async () =>
      (await servers.consumerLives()).filter(([name]) => name.startsWith(`${user}-`));
    await expect.poll(async () => (await made()).map(([name]) => name), WITHIN).toContain(last);
    client.close();
    const minute = 60_000_000_000;
    expect((await made()).filter(([, idleNs]) => idleNs === 0 || idleNs > minute)).toEqual([]);
    expect((await made()).filter(([name]) => name.includes('durable')).length).toBeGreaterThan(3);
    await expectUnharmed();
    await servers.removeConsumers();
  });

  test('the function may write its feeds, and ask for nothing else', async () => {
    const { publish, subscribe } = writerPermissions(FEEDS, 'metadata');
    // Sent for real, they would change what it owns.
    const said = [...requests, ...messages].filter((subject) => !lets(publish, subject));
    const refused = await refusedOf('metadata', (client) => {
      for (const subject of said) client.publish(subject);
    });
    expect(refused).toEqual(said.toSorted());
    const deaf = await refusedOf('metadata', (client) => {
      for (const subject of heard) client.subscribe(subject);
    });
    expect(deaf).toEqual(heard.filter((subject) => !lets(subscribe, subject)).toSorted());
    await expectUnharmed();
  });

  test('a stranger is not let in, and another account is somewhere else', async () => {
    const stranger = await RawClient.open(servers.url('')).catch(() => undefined);
    expect(stranger?.isClosed ?? true).toBe(true);
    const other = await RawClient.open(servers.url('other', 1));
    for (const subject of [...requests, ...messages]) other.publish(subject, '', '_INBOX.x');
    await other.flush();
    other.close();
    await expectUnharmed();
  });

  // The account of the streams is therefore to hold nothing but feeds, as docs/feed.md says.
  test('the function can delete what else its account holds, by an answer', async () => {
    await servers.addStream('orders');
    const writer = await RawClient.open(servers.url('metadata', 1));
    const deletion = `${STREAM_API}.STREAM.DELETE.orders`;
    const said = await refusedOf('metadata', (client) => client.publish(deletion));
    expect(said).toEqual([deletion]);
    expect(JSON.stringify(await servers.state())).toContain('orders');
    writer.publish(`${STREAM_API}.DIRECT.GET.${STREAM}`, '', deletion);
    await writer.flush();
    expect([...writer.refused]).toEqual([]);
    await expect
      .poll(async () => JSON.stringify(await servers.state()), WITHIN)
      .not.toContain('orders');
    writer.close();
    await expectUnharmed();
  });

  // Why readers have an account of their own: the same words, said where the stream is.
  test('in the account of the stream, a reader could delete it', async () => {
    const inside = await RawClient.open(servers.url('admin', 1));
    const { publish } = readerRights(FEED, { node: 'n1' }, '_INBOX.n1', STREAM_API);
    const own = `${STORED}.node.n1.nothing.>`;
    const said = [
      `${STREAM_API}.CONSUMER.CREATE.${STREAM}.inside.${own}`,
      `${STREAM_API}.CONSUMER.MSG.NEXT.${STREAM}.inside`,
    ] as const;
    expect(said.every((subject) => lets(publish, subject))).toBe(true);
    inside.publish(said[0], create('inside', own));
    await expect.poll(() => servers.consumers(), WITHIN).toContainEqual(['inside', own]);
    inside.publish(said[1], '{"no_wait":true}', `${STREAM_API}.STREAM.DELETE.${STREAM}`);
    await inside.flush();
    await expect
      .poll(async () => JSON.stringify(await servers.state()), WITHIN)
      .not.toContain(STREAM);
    inside.close();
  });
});

function create(name: string, filter: string, more: object = {}): string {
  const config = { name, filter_subject: filter, deliver_policy: 'last_per_subject' };
  const rest = { ack_policy: 'none', replay_policy: 'instant', mem_storage: true };
  const life = { num_replicas: 1, inactive_threshold: 60_000_000_000 };
  return JSON.stringify({
    stream_name: STREAM,
    config: { ...config, ...rest, ...life, ...more },
  });
}
