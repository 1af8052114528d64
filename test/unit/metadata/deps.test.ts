// When the feeds are read, and who shares a read: what is answered must not be older than the
// question.
import { expect, test, vi } from 'vitest';
import { Deps } from '../../../functions/metadata/deps.ts';
import { METADATA_FEEDS } from '../../../shared/api/metadata-feed.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeList, KubeObject } from '../../../shared/kube/objects.ts';
import { NO_ACCESS } from '../../../shared/nats/access.ts';

/** An API server whose answers take as long as the test wants. */
class SlowServer {
  feed = feedSweptAt('2000-01-01T00:00:00Z');
  reads = 0;
  #answers: (() => void)[] = [];

  readonly kube = {
    list: async (): Promise<KubeList> => {
      this.reads += 1;
      const { feed } = this;
      await new Promise<void>((resolve) => this.#answers.push(resolve));
      return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items: [feed] };
    },
    close: async () => undefined,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as much of it as is asked
  } as unknown as KubeClient;

  /** The oldest read that waits. */
  async answer(): Promise<void> {
    const next = await vi.waitUntil(() => this.#answers.shift());
    next();
  }
}

function feedSweptAt(sweptAt: string): KubeObject {
  const { group, version } = METADATA_FEEDS;
  return {
    apiVersion: `${group}/${version}`,
    kind: 'MetadataFeed',
    metadata: { name: 'cluster', namespace: 'feeds', uid: 'u1', resourceVersion: '1' },
    spec: { resources: [], stream: { replicas: 1, storage: 'Memory' }, pods: {}, retention: {} },
    status: { sweptAt },
  };
}

function makeDeps({ kube }: SlowServer): Deps {
  const log = { warn: () => undefined };
  const nats = { url: 'nats://127.0.0.1:1', access: NO_ACCESS };
  return new Deps({ kube, clock: systemClock, log, namespace: 'feeds', nats });
}

test('a caller who asks during a read is not answered by that read', async () => {
  const server = new SlowServer();
  const deps = makeDeps(server);
  const signal = AbortSignal.timeout(10_000);
  const before = deps.refresh(signal);
  await expect.poll(() => server.reads).toBe(1);
  server.feed = feedSweptAt('2026-11-21T00:00:00Z');
  const opening = deps.session('u1', signal);
  await server.answer();
  await before;
  await server.answer();
  expect((await opening)?.feed.status.sweptAt).toBe('2026-11-21T00:00:00Z');
  await deps.close();
});

test('callers who wait for the same read share it', async () => {
  const server = new SlowServer();
  const deps = makeDeps(server);
  const signal = AbortSignal.timeout(10_000);
  const first = deps.refresh(signal);
  await expect.poll(() => server.reads).toBe(1);
  const waiting = [deps.refresh(signal), deps.refresh(signal), deps.refresh(signal)];
  await server.answer();
  await server.answer();
  await Promise.all([first, ...waiting]);
  expect(server.reads).toBe(2);
  await deps.close();
});
