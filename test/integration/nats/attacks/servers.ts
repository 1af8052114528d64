// The accounts of a feed as we ship them, of `npm start` or of a NatsCluster, on one server or on
// three, with everybody for whom there are rights, and an account beside them that has nothing to
// do with feeds.
import { randomUUID } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type NatsConnection, connect } from 'nats';
import { natsConfig } from '../../../../functions/nats-cluster/render/config.ts';
import { resolvePart } from '../../../../knative/try/local/parts/resolve.ts';
import { natsServerSpec } from '../../../../knative/try/local/plane/nats-server.ts';
import { type Plane, startPlane } from '../../../../knative/try/local/plane/plane.ts';
import { freePort } from '../../../../knative/try/local/process/ports.ts';
import type { Account, FeedReading } from '../../../../shared/api/nats-cluster.ts';
import { encodeMessage } from '../../../../shared/feed/messages.ts';
import { streamName, subjectOf } from '../../../../shared/feed/subjects.ts';
import { feedAccounts } from '../../../../shared/nats/accounts.ts';
import type { Scope } from '../../../../shared/nats/replica/scope.ts';
import { FeedWriter } from '../../../builders/feed-writer.ts';
import { loginOf } from '../../../builders/nats-login.ts';
import { until } from '../../../builders/versioned-kind.ts';
import { CREDENTIALS, cluster as sample } from '../../../unit/nats-cluster/samples.ts';

const PASSWORD = randomUUID();
export const FEED = 'f';
/** A user of the same account that may not read the first stream. */
export const OTHER_FEED = 'g';

export const READERS: Readonly<Record<string, Scope>> = {
  all: 'cluster',
  n1: { node: 'n1' },
  n2: { node: 'n2' },
  web: { namespaces: ['web'] },
};

const OTHER = { jetstream: 'enabled', users: [{ user: 'other', password: PASSWORD }] };

const ofStart = () => ({
  accounts: {
    OTHER,
    ...feedAccounts({
      feeds: [FEED, OTHER_FEED],
      admin: { name: 'admin', password: PASSWORD },
      writer: { name: 'metadata', password: PASSWORD },
      readers: Object.entries(READERS).map(([name, scope]) => ({
        name,
        password: PASSWORD,
        feeds: [FEED],
        scope,
      })),
    }),
  },
});

/** As the function renders it for a spec that says the same. */
function ofNatsCluster() {
  const feeds = [FEED, OTHER_FEED];
  const readers = Object.entries(READERS).map(([name, scope]) => ({ name, reads: reading(scope) }));
  const accounts: readonly Account[] = [
    { name: 'OTHER', jetStream: true, users: [{ name: 'other' }] },
    {
      name: 'FEEDS',
      jetStream: true,
      feeds,
      users: [{ name: 'admin' }, { name: 'metadata', writes: feeds }],
    },
    { name: 'READERS', jetStream: false, users: readers },
  ];
  const names = accounts.flatMap(({ users }) => users.map(({ name }) => name));
  const passwords = new Map(names.map((name) => [name, PASSWORD]));
  const own = sample({ spec: { accounts } });
  const rendered = natsConfig(own, { ...CREDENTIALS, passwords });
  return { accounts: rendered['accounts'], system_account: rendered['system_account'] };
}

const reading = (scope: Scope): FeedReading => {
  if (scope === 'cluster') return { feed: FEED, scope: 'Cluster' };
  if ('node' in scope) return { feed: FEED, scope: 'Node', node: scope.node };
  return { feed: FEED, scope: 'Namespaces', namespaces: scope.namespaces };
};

const ACCOUNTS = { 'npm start': ofStart, 'a NatsCluster': ofNatsCluster } as const;
export type Whose = keyof typeof ACCOUNTS;

export class Servers {
  readonly #plane: Plane;
  readonly #ports: readonly number[];
  readonly admin: NatsConnection;
  readonly feed: FeedWriter;

  private constructor(plane: Plane, ports: readonly number[], admin: NatsConnection) {
    this.#plane = plane;
    this.#ports = ports;
    this.admin = admin;
    this.feed = new FeedWriter(admin, FEED, ports.length);
  }

  static async start(whose: Whose, count: number): Promise<Servers> {
    const plane = await startPlane({ parts: [] });
    try {
      const ports = await startServers(plane, ACCOUNTS[whose](), count);
      const url = urlOf(ports[0] ?? 0, 'admin');
      const servers = new Servers(plane, ports, await connect(loginOf(url)));
      await servers.#fill();
      return servers;
    } catch (error) {
      await plane.stop();
      throw error;
    }
  }

  /** Each user at a server of its own, as far as there are as many. */
  url(user: string, at = 0): string {
    return urlOf(this.#ports[at % this.#ports.length] ?? 0, user);
  }

  /**
   * It does not end by itself, and reads its files anew. They have all that the stream forgot so
   * far, and a message after it, so that it trusts no older state of its own.
   */
  async killAndStart(at: number): Promise<void> {
    await until('each server to hold the same', () => this.#isAlike());
    const mark = randomUUID();
    const subject = subjectOf('all', { resource: 'pods', namespace: mark, name: mark });
    const end = { deleted: true, epoch: 1, uid: '', resourceVersion: '1', at: '' } as const;
    await this.feed.raw(subject, encodeMessage(end), { 'Nats-TTL': '600s' });
    const server = this.#plane.part(`nats-server-${at}`);
    const messages = `n${at}/nats/jetstream/FEEDS/streams/${streamName(FEED)}/msgs`;
    await until('the files to have it', () => isIn(join(this.#plane.dir, messages), mark));
    await server.kill();
    await server.start();
  }

  async stop(): Promise<void> {
    await this.admin.close();
    await this.#plane.stop();
  }

  /** The objects that the function made and nobody else may change. */
  async state(): Promise<unknown> {
    const streams = await this.#ask<{ streams: readonly StreamInfo[] }>('STREAM.LIST');
    return streams.streams
      .map(({ config, state }) => ({ config, messages: state.messages, last: state.last_seq }))
      .toSorted((a, b) => (a.config.name < b.config.name ? -1 : 1));
  }

  /** A stream of somebody else, in the account of the feeds. */
  async addStream(name: string): Promise<void> {
    const config = { name, subjects: [`${name}.>`], storage: 'memory', num_replicas: 1 };
    await this.#ask(`STREAM.CREATE.${name}`, config);
  }

  /** Name and filter of each. */
  async consumers(): Promise<readonly (readonly [name: string, filter: string])[]> {
    return (await this.#consumers()).map(({ name, config }) => [name, config.filter_subject ?? '']);
  }

  async #consumers(): Promise<readonly ConsumerInfo[]> {
    const found: ConsumerInfo[] = [];
    for (let isMore = true; isMore;) {
      const body = { offset: found.length };
      const page = await this.#ask<ConsumerPage>(`CONSUMER.LIST.ballast-${FEED}`, body);
      found.push(...(page.consumers ?? []));
      isMore = (page.consumers ?? []).length > 0 && found.length < page.total;
    }
    return found;
  }

  async removeConsumers(): Promise<void> {
    const names = (await this.consumers()).map(([name]) => name);
    await Promise.all(names.map((name) => this.#ask(`CONSUMER.DELETE.ballast-${FEED}.${name}`)));
  }

  /** How long each stays that nobody asks; 0 is for ever. */
  async consumerLives(): Promise<readonly (readonly [name: string, idleNs: number])[]> {
    return (await this.#consumers()).map(({ name, config }) => [
      name,
      config.inactive_threshold ?? 0,
    ]);
  }

  /** Each server forgets what expires at a moment of its own. */
  async #isAlike(): Promise<boolean> {
    const states = this.#ports.map(async (_port, index) => {
      const { monitorUrl } = this.#plane.part(`nats-server-${index}`);
      const answer = await fetch(`${monitorUrl}/jsz?streams=true`);
      const { account_details: accounts } = (await answer.json()) as StreamsOfServer;
      const streams = accounts.flatMap(({ stream_detail: all }) => all ?? []);
      const { messages, last_seq: last } = streams.find(isOfFeed)?.state ?? {};
      return `${messages}/${last}`;
    });
    return new Set(await Promise.all(states)).size === 1;
  }

  async #ask<Answer>(verb: string, body?: object): Promise<Answer> {
    const text = body === undefined ? '' : JSON.stringify(body);
    return (await this.admin.request(`$JS.API.${verb}`, text, { timeout: 10_000 })).json<Answer>();
  }

  async #fill(): Promise<void> {
    const other = new FeedWriter(this.admin, OTHER_FEED, this.#ports.length);
    for (const feed of [this.feed, other]) {
      await feed.begin();
      for (const node of ['n1', 'n2']) {
        await feed.put({ node }, { resource: 'pods', namespace: 'web', name: 'a' });
      }
      await feed.put('all', { resource: 'nodes', namespace: '', name: 'n1' });
      await feed.put('cluster', { resource: 'pods', namespace: 'bank', name: 'a' });
    }
  }
}

interface StreamInfo {
  readonly config: { readonly name: string };
  readonly state: State;
}

interface State {
  readonly messages: number;
  readonly last_seq: number;
}

interface StreamsOfServer {
  readonly account_details: readonly {
    readonly stream_detail?: readonly { readonly name: string; readonly state: State }[];
  }[];
}

const isOfFeed = ({ name }: { readonly name: string }): boolean => name === streamName(FEED);

/** Some file of the directory has the text. */
async function isIn(dir: string, text: string): Promise<boolean> {
  const files = (await readdir(dir)).map((name) => readFile(join(dir, name)));
  return (await Promise.all(files)).some((bytes) => bytes.includes(text));
}

interface ConsumerPage {
  readonly total: number;
  readonly consumers: readonly ConsumerInfo[] | null;
}

interface ConsumerInfo {
  readonly name: string;
  readonly config: { readonly filter_subject?: string; readonly inactive_threshold?: number };
}

const urlOf = (port: number, user: string): string =>
  user === '' ? `nats://127.0.0.1:${port}` : `nats://${user}:${PASSWORD}@127.0.0.1:${port}`;

async function startServers(
  plane: Plane,
  accounts: object,
  count: number,
): Promise<readonly number[]> {
  const binary = await resolvePart('nats-server');
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const routePorts = await Promise.all(Array.from({ length: count }, freePort));
  const monitorPorts = await Promise.all(Array.from({ length: count }, freePort));
  const routes = routePorts.map((port) => `nats://127.0.0.1:${port}`);
  const starting = ports.map(async (port, index) => {
    const dir = join(plane.dir, `n${index}`);
    const cluster = { name: 'c', listen: `127.0.0.1:${routePorts[index]}`, routes };
    const config = {
      server_name: `n${index}`,
      ...(count === 1 ? {} : { cluster }),
      ...accounts,
    };
    const path = join(plane.dir, `n${index}.conf`);
    await writeFile(path, JSON.stringify(config));
    const monitorPort = monitorPorts[index] ?? 0;
    const spec = natsServerSpec({ binary, dir, port, monitorPort });
    const name = `nats-server-${index}`;
    await plane.add({ ...spec, name, args: [...spec.args, `--config=${path}`] });
  });
  await Promise.all(starting);
  if (count > 1) await until('all peers to be online', () => arePeersOnline(monitorPorts));
  return ports;
}

/** Each server is ready before the leader has heard of all, and places no stream until then. */
async function arePeersOnline(monitorPorts: readonly number[]): Promise<boolean> {
  const answers = monitorPorts.map(async (port) => {
    const answer = await fetch(`http://127.0.0.1:${port}/jsz`);
    const { meta_cluster: { replicas = [] } = {} } = (await answer.json()) as MetaGroup;
    return replicas.filter(({ offline }) => offline !== true).length === monitorPorts.length - 1;
  });
  // The leader alone names its followers.
  return (await Promise.all(answers)).some(Boolean);
}

interface MetaGroup {
  readonly meta_cluster?: { readonly replicas?: readonly { readonly offline?: boolean }[] };
}
