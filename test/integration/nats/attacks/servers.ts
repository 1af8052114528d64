// The accounts of a feed as we ship them, of `npm start` or of a NatsCluster, on one server or on
// three, with everybody for whom there are rights, and an account beside them that has nothing to
// do with feeds.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type NatsConnection, connect } from 'nats';
import { natsConfig } from '../../../../functions/nats-cluster/render/config.ts';
import { resolvePart } from '../../../../knative/try/local/parts/resolve.ts';
import { natsServerSpec } from '../../../../knative/try/local/plane/nats-server.ts';
import { type Plane, startPlane } from '../../../../knative/try/local/plane/plane.ts';
import { freePort } from '../../../../knative/try/local/process/ports.ts';
import type { Account, FeedReading } from '../../../../shared/api/nats-cluster.ts';
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

  /** It does not end by itself, and reads its files anew. */
  async killAndStart(at: number): Promise<void> {
    const server = this.#plane.part(`nats-server-${at}`);
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
  readonly state: { readonly messages: number; readonly last_seq: number };
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
