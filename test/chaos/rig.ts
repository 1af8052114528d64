// Everything that a feed runs on, for real and on loopback, each connection through a proxy: etcd,
// API server, NATS, Knative's adapter, instances of the function as processes, and readers that
// stay open through whatever is done to the others.
import { join } from 'node:path';
import { bundleFunction } from '../../knative/tools/build/build.ts';
import { applyObjects } from '../../knative/try/local/cluster/apply-objects.ts';
import { ServiceAccounts } from '../../knative/try/local/cluster/service-accounts.ts';
import { loadWiring } from '../../knative/try/local/manifests/load.ts';
import type { ApiServerSourceWiring, Wiring } from '../../knative/try/local/manifests/wiring.ts';
import { resolvePart } from '../../knative/try/local/parts/resolve.ts';
import { adapterPart } from '../../knative/try/local/plane/adapter.ts';
import { type Plane, startPlane } from '../../knative/try/local/plane/plane.ts';
import type { Part } from '../../knative/try/local/process/part.ts';
import { freePort } from '../../knative/try/local/process/ports.ts';
import { METADATA_FEEDS, type MetadataFeedStatus } from '../../shared/api/metadata-feed.ts';
import { type Clock, systemClock } from '../../shared/clock.ts';
import { type KubeClient, openKube } from '../../shared/kube/client.ts';
import type { Scope } from '../../shared/nats/replica/scope.ts';
import { expectedView } from './compare.ts';
import { forgetTombstones } from './forget.ts';
import { GoReader, type GoScope } from './go-reader.ts';
import { Heartbeat } from './heartbeat.ts';
import { addInstance } from './instance.ts';
import type { Observer } from './observer.ts';
import { Reader, readerName } from './reader.ts';
import { Relay } from './relay.ts';
import { Located } from './located.ts';
import { NAMESPACE } from './shapes.ts';

export const FEED = 'cluster';
export const NATS = 'nats-server';
/** The scopes that are read, each by a user who may read just that. */
export const SCOPES: readonly Scope[] = [
  ...['n0', 'n1', 'n2', 'elsewhere'].map((node) => ({ node })),
  { namespaces: [NAMESPACE] },
  'cluster',
];
/** A node that comes late, whose agent opens by itself. */
export const LATE = { node: 'new' } as const;
export const API_SERVER = 'kube-apiserver';
export const ADAPTER = 'adapter/metadata';
/** The one that gets events when there is one. */
export const FUNCTION = 'function/metadata-0';
const FEED_OBJECT = { namespace: 'ballast-system', name: FEED };
const MANIFESTS = join(import.meta.dirname, '../../knative');
const RETRY_MS = 100;
/** The clients try again every two seconds; this is many tries. */
const HEALED_WITHIN_MS = 40_000;
const TICK_TIMEOUT_MS = 15_000;
/** As a feed says it whose sweep is long due. */
const LONG_AGO = '2000-01-01T00:00:00Z';

export class Rig {
  readonly plane: Plane;
  /** As cluster admin, straight to the API server. */
  readonly kube: KubeClient;
  readonly relay = new Relay();
  readonly readers: Reader[] = [];
  readonly goReaders: GoReader[] = [];
  readonly clock: Clock = systemClock;
  readonly heartbeat: Heartbeat;
  readonly #accounts: ServiceAccounts;
  readonly #wiring: Wiring;
  readonly #instances: Part[] = [];
  readonly #ticks = new Set<Promise<number>>();
  #located: Located | undefined;

  private constructor(plane: Plane, wiring: Wiring) {
    this.plane = plane;
    this.#wiring = wiring;
    const { kubeconfigPath } = plane;
    this.kube = openKube({ kubeconfigPath, userAgent: 'chaos', fieldManager: 'chaos' });
    this.heartbeat = new Heartbeat(this.kube, this.clock);
    this.#accounts = new ServiceAccounts(this.kube, plane, () => undefined);
  }

  static async start(options: { readonly instances?: number } = {}): Promise<Rig> {
    const natsReaders = [...SCOPES, LATE].map((scope) => ({
      name: readerName(scope),
      feeds: [FEED],
      scope,
    }));
    const plane = await startPlane({ links: true, natsReaders });
    const rig = new Rig(plane, await loadWiring(MANIFESTS));
    try {
      await Promise.all([
        applyObjects(rig.kube, rig.#wiring.objects),
        bundleFunction('metadata', rig.#bundleDir),
      ]);
      await rig.heartbeat.create();
      await rig.setInstances(options.instances ?? 1);
      await rig.#startAdapter(await rig.relay.listen());
      return rig;
    } catch (error) {
      await rig.stop();
      throw error;
    }
  }

  /** A test that failed leaves parts that are paused, cut off or not there. */
  async mend(): Promise<void> {
    for (const part of this.plane.parts()) {
      part.resume();
      this.plane.heal(part.name);
    }
    for (const name of [NATS, API_SERVER, ADAPTER, FUNCTION]) {
      const part = this.plane.part(name);
      if (part.state !== 'ready') await part.start();
    }
  }

  async stop(): Promise<void> {
    this.#accounts.close();
    for (const part of this.plane.parts()) part.resume();
    await this.#located?.stop();
    await Promise.all([...this.readers, ...this.goReaders].map((reader) => reader.close()));
    await this.kube.close();
    await this.plane.stop();
    await this.relay.close();
  }

  /** Once for all instances: from sources each start would cost three times as much. */
  get #bundleDir(): string {
    return join(this.plane.dir, 'metadata');
  }

  get adapter(): Part {
    return this.plane.part(ADAPTER);
  }

  get instances(): readonly Part[] {
    return this.#instances;
  }

  /**
   * More are added, and those that are too many get no events. Every second one takes events at
   * their word: both roads have to lead to the same end, also side by side.
   */
  async setInstances(count: number): Promise<void> {
    const [wiring] = this.#wiring.functions.filter(({ name }) => name === 'metadata');
    if (wiring === undefined) throw new Error('the manifests have no function metadata');
    while (this.#instances.length < count) {
      const index = this.#instances.length;
      const takesEventsAtTheirWord = index % 2 === 1;
      const [plane, accounts, bundleDir] = [this.plane, this.#accounts, this.#bundleDir];
      const deps = { plane, bundleDir, accounts, wiring, takesEventsAtTheirWord };
      this.#instances.push(await addInstance(deps, `metadata-${index}`));
    }
    this.relay.targets = this.#instances.slice(0, count).map(({ url }) => url);
  }

  addReader(scope: Scope): Reader {
    const reader = new Reader({ ...this.#readerOptions(scope), scope });
    this.readers.push(reader);
    reader.open();
    return reader;
  }

  async addGoReader(scope: GoScope): Promise<GoReader> {
    const reader = new GoReader({ ...this.#readerOptions(scope), scope });
    this.goReaders.push(reader);
    await reader.open();
    return reader;
  }

  #readerOptions(scope: Scope) {
    const url = this.plane.part(NATS).urls?.[readerName(scope)] ?? '';
    const isSlandered = (name: string): boolean => this.relay.slandered.has(name);
    return { url, feed: FEED, isSlandered };
  }

  /** Its answers are compared with the API server from now on. */
  async addLocate(): Promise<void> {
    this.#located = await Located.start(this.plane.part(NATS).urls?.['locate'] ?? '');
  }

  async status(): Promise<MetadataFeedStatus> {
    const object = await this.kube.get(METADATA_FEEDS, FEED_OBJECT, { timeoutMs: 2_000 });
    return object?.['status'] ?? {};
  }

  /** The tick of a sweep period: a minute is taken off the last sweep, so that one is due. */
  async tick(instance = 0): Promise<number> {
    const ticking = this.#tick(instance);
    this.#ticks.add(ticking);
    return ticking.finally(() => this.#ticks.delete(ticking));
  }

  /** Also those of before the faults were lifted. */
  async allTicks(): Promise<void> {
    await Promise.all(this.#ticks);
  }

  async #tick(instance: number): Promise<number> {
    const target = this.#instances[instance]?.url ?? '';
    const headers = {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': crypto.randomUUID(),
      'ce-source': '/chaos',
      'ce-type': 'dev.knative.sources.ping',
    };
    try {
      await this.#ageSweep();
      const signal = AbortSignal.timeout(TICK_TIMEOUT_MS);
      return (await fetch(target, { method: 'POST', headers, body: '{}', signal })).status;
    } catch {
      // In a fault this is the ordinary answer; whoever counts on the tick sends it again.
      return 503;
    }
  }

  async #ageSweep(): Promise<void> {
    if ((await this.status()).streamId === undefined) return;
    const body = { status: { sweptAt: LONG_AGO } };
    const target = { ...FEED_OBJECT, subresource: 'status' };
    const options = { fieldManager: 'ballast-metadata', timeoutMs: 2_000 };
    await this.kube.patch(METADATA_FEEDS, target, { type: 'merge', body }, options);
  }

  /**
   * One sweep, after the events that are still under way. Answers how many ticks before it were
   * turned away, or ended with the feed saying itself that it did not reach the present.
   */
  async sweep(instance = 0): Promise<number> {
    await this.relay.straighten();
    await this.relay.quiet();
    await this.allTicks();
    const endsAtMs = this.clock.nowMs() + HEALED_WITHIN_MS;
    for (let refused = 0; ; refused += 1) {
      const answer = await this.tick(instance);
      if (answer === 204 && (await this.#isSwept())) return refused;
      if (this.clock.nowMs() > endsAtMs) throw new Error(`the sweep is refused: ${answer}`);
      await this.clock.sleep(RETRY_MS);
    }
  }

  async #isSwept(): Promise<boolean> {
    const { sweptAt, conditions = [] } = await this.status();
    // Whatever is compared next would blame a sweep that never was.
    if (sweptAt === LONG_AGO) throw new Error('the tick was taken, and nothing was swept');
    return conditions.some(({ type, status }) => type === 'InSync' && status === 'True');
  }

  /**
   * How every reader, and every answer of `locate`, differs from the API server; waits until none
   * does, for so long.
   */
  async differences(withinMs = HEALED_WITHIN_MS): Promise<readonly string[]> {
    const expected = await expectedView(this.kube);
    const endsAtMs = this.clock.nowMs() + withinMs;
    for (;;) {
      const read = this.readers.flatMap((reader) => reader.differences(expected));
      const inGo = this.goReaders.flatMap((reader) => reader.differences(expected));
      const located = (await this.#located?.differences(this.kube)) ?? [];
      const found = [...read, ...inGo, ...located];
      if (found.length === 0 || this.clock.nowMs() > endsAtMs) return found;
      await this.clock.sleep(RETRY_MS);
    }
  }

  /** As after some hours in which readers were away: deletes are gone, and the floor says so. */
  async forgetTombstones(): Promise<void> {
    await forgetTombstones(this.plane.part(NATS).url, FEED);
  }

  get observers(): readonly Observer[] {
    return [...this.readers, ...this.goReaders].map(({ observer }) => observer);
  }

  get violations(): readonly string[] {
    return this.observers.flatMap(({ violations }) => violations);
  }

  async #startAdapter(sinkUrl: string): Promise<void> {
    const source = this.#source();
    const { namespace, serviceAccountName: name } = source;
    const client = ADAPTER;
    const spec = adapterPart(source, {
      binary: await resolvePart('apiserver_receive_adapter'),
      kubeconfigPath: await this.#accounts.kubeconfigFor(client, { namespace, name }),
      sinkUrl,
      profilingPort: await freePort(),
    });
    await this.plane.add(spec);
  }

  #source(): ApiServerSourceWiring {
    const source = this.#wiring.sources.find(({ name }) => name === 'metadata');
    if (source === undefined) throw new Error('the manifests have no source metadata');
    return source;
  }
}
