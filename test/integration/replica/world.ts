// Shared by the tests of the replica: a feed on a server, readers that are closed with it, and a
// witness that no reader was ever shown an older state.
import { afterAll, beforeAll, expect } from 'vitest';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Bookmark } from '../../../shared/nats/replica/bookmark.ts';
import type { Change } from '../../../shared/nats/replica/changes.ts';
import {
  type Replica,
  type ReplicaOptions,
  openReplica,
} from '../../../shared/nats/replica/replica.ts';
import { FeedWriter } from '../../builders/feed-writer.ts';

export const pod = (name: string, namespace = 'web') =>
  ({ resource: 'pods', namespace, name }) as const;
export const node1 = { node: 'n1' } as const;
export const node2 = { node: 'n2' } as const;

/** How long a reader may take on a busy machine. */
export const PATIENCE = { timeout: 15_000 } as const;

/** No pause ever ends by itself: what happens then, happens for another reason. */
export const standingClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (_ms, signal) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
};

export class World {
  readonly #server: Part;
  readonly #open: { close(): Promise<void> }[] = [];
  #feeds = 0;

  constructor(server: Part) {
    this.#server = server;
  }

  /** With the login of the readers' account. */
  get url(): string {
    return this.#server.urls?.['reader'] ?? '';
  }

  /** With that of the account that has the streams. */
  get writerUrl(): string {
    return this.#server.url;
  }

  async writer(): Promise<FeedWriter> {
    this.#feeds += 1;
    const writer = await FeedWriter.open(this.writerUrl, `f${this.#feeds}`);
    this.#open.push(writer);
    return writer;
  }

  /** A feed that is ready and empty. */
  async feed(): Promise<FeedWriter> {
    const writer = await this.writer();
    await writer.begin();
    return writer;
  }

  reader(
    { feed }: { readonly feed: string },
    scope: ReplicaOptions['scope'] = 'cluster',
    more: Partial<ReplicaOptions> = {},
  ): Replica {
    const replica = openReplica({ url: this.url, feed, scope, ...more });
    this.#open.push(replica);
    return replica;
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((each) => each.close()));
  }
}

export function heldBy(replica: Replica): Readonly<Record<string, number>> {
  const entries = [...replica.catalog.entries()];
  return Object.fromEntries(entries.map(({ subject, version }) => [subject, version]));
}

/** Ends when the replica holds exactly what the writer wrote there. */
export async function untilEqual(
  replica: Replica,
  writer: FeedWriter,
  isShown?: (subject: string) => boolean,
): Promise<void> {
  await expect.poll(() => heldBy(replica), PATIENCE).toEqual(writer.alive(isShown));
}

export async function untilPhase(replica: Replica, phase: string): Promise<void> {
  await expect.poll(() => replica.state.phase, PATIENCE).toBe(phase);
}

/** The changes that a consumer was told, in a few words each. */
export function told(replica: Replica): string[] {
  const lines: string[] = [];
  void (async () => {
    for await (const change of replica.changes()) lines.push(inWords(change));
  })();
  return lines;
}

function inWords(change: Change): string {
  if (change.type === 'resync') return `resync ${change.missed}`;
  const moved = change.type === 'removed' && change.moved === true ? ' (moved)' : '';
  return `${change.type} ${change.entry.subject}${moved}`;
}

/** Through storage, as an agent would. */
export const stored = (replica: Replica): Bookmark =>
  JSON.parse(JSON.stringify(replica.bookmark()));

/** One nats-server for the tests of a file. */
export function withWorld(begin: (opened: World) => void): void {
  let plane: Plane | undefined;
  let world: World | undefined;

  beforeAll(async () => {
    plane = await startPlane({ parts: ['nats-server'] });
    world = new World(plane.part('nats-server'));
    begin(world);
  });

  afterAll(async () => {
    await world?.close();
    await plane?.stop();
  });
}
