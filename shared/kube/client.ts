// The client of the API server: reads, writes and watches objects as plain JSON over a few pooled
// connections. Opening it calls nobody; the first use finds the credentials and connects.
import { type Clock, systemClock } from '../clock.ts';
import { accessReader, readerAt } from './access.ts';
import { AccessCache } from './access-cache.ts';
import { type Answer, Calls, type Retry } from './calls.ts';
import type { KubeLog } from './log.ts';
import type { AccessSource } from './config.ts';
import { Connection } from './connection.ts';
import { Discovery } from './discovery.ts';
import type {
  DiscoveredResource,
  KubeList,
  KubeObject,
  Manifest,
  NamelessManifest,
  ObjectName,
  ResourceRef,
  VersionedManifest,
} from './objects.ts';
import type { Query } from './paths.ts';
import {
  type GetOptions,
  getObject,
  type ListOptions,
  listPage,
  listPages,
  type PagesOptions,
} from './reads.ts';
import type { CallOptions, Method } from './request.ts';
import type { Repeat } from './retry.ts';
import {
  type WatchEvent,
  type WatchOptions,
  type WatchWiring,
  watchOnce,
  watchResource,
} from './watch.ts';
import {
  type ApplyOptions,
  type Created,
  type DeleteOptions,
  type Deletion,
  type Patch,
  type PatchOptions,
  type Precondition,
  type UpdateOptions,
  type WriteOptions,
  Writes,
} from './writes.ts';

export interface KubeOptions {
  /** Shown in the audit log of the API server. */
  readonly userAgent: string;
  /** Owns what this client writes, as far as a call does not say otherwise. */
  readonly fieldManager: string;
  /**
   * Else what KUBECONFIG names, the mounted service account, or ~/.kube/config: the first there
   * is.
   */
  readonly access?: AccessSource;
  readonly kubeconfigPath?: string | undefined;
  /** One API server of several, instead of the address that the credentials come with. */
  readonly server?: { readonly url: string; readonly servername: string };
  /** How many calls are under way at once, watches aside; 8 when absent. */
  readonly connectionsMax?: number;
  readonly clock?: Clock;
  /** In [0, 1): spreads pauses. */
  readonly random?: () => number;
  readonly log?: KubeLog;
  /** Called before each repetition of a call or watch. */
  readonly onRetry?: (retry: Retry) => void;
  /** Told each object that was read by its name or in pages. */
  readonly onRead?: (ref: ResourceRef, object: KubeObject) => void;
  /** Told each object before it is created or applied, and says how it is written. */
  readonly onWrite?: OnWrite;
}

/** `ref` of what is applied, and so may be there. */
export type OnWrite = <Any extends Manifest | NamelessManifest>(
  manifest: Any,
  options: CallOptions,
  ref?: ResourceRef,
) => Promise<Any>;

export interface RawRequest extends CallOptions {
  readonly method: Method;
  /** Absolute, without the query. */
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly contentType?: string;
  /** `application/json` when absent. */
  readonly accept?: string;
  /** Only what can be done twice with the effect of once is `always`. */
  readonly repeat: Repeat;
}

export function openKube(options: KubeOptions): KubeClient {
  return new KubeClient(options);
}

export class KubeClient {
  readonly #connection: Connection;
  readonly #calls: Calls;
  readonly #writes: Writes;
  readonly #discovery: Discovery;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #log: KubeLog | undefined;
  readonly #onRead: (ref: ResourceRef, object: KubeObject) => void;
  readonly #onWrite: OnWrite;

  constructor(options: KubeOptions) {
    const { kubeconfigPath, userAgent, fieldManager, log, onRetry } = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#log = log;
    this.#onRead = options.onRead ?? (() => undefined);
    this.#onWrite = options.onWrite ?? (async (manifest) => manifest);
    const source =
      kubeconfigPath === undefined ? options.access : { kubeconfigPaths: [kubeconfigPath] };
    const clock = this.#clock;
    const random = this.#random;
    const read = accessReader(source, clock);
    const { server } = options;
    const readAccess = server === undefined ? read : readerAt(read, server);
    const cache = new AccessCache(readAccess, clock, { log });
    const connection = new Connection(cache, options.connectionsMax);
    this.#connection = connection;
    this.#calls = new Calls({ connection, clock, random, userAgent, log, onRetry });
    this.#writes = new Writes(this.#calls, fieldManager);
    this.#discovery = new Discovery(this.#calls);
  }

  /** Null when there is no such object. */
  async get(
    ref: ResourceRef,
    target: ObjectName,
    options: GetOptions = {},
  ): Promise<KubeObject | null> {
    const object = await getObject(this.#calls, ref, target, options);
    if (object !== null) this.#onRead(ref, object);
    return object;
  }

  /** One page, or everything when there is no limit. */
  list(ref: ResourceRef, options: ListOptions = {}): Promise<KubeList> {
    return listPage(this.#calls, ref, options);
  }

  /** The whole list page by page, all of the moment of the first page. */
  async *pages(ref: ResourceRef, options: PagesOptions): AsyncGenerator<KubeList, void, undefined> {
    for await (const page of listPages(this.#calls, ref, options)) {
      for (const object of page.items) this.#onRead(ref, object);
      yield page;
    }
  }

  watch(ref: ResourceRef, options: WatchOptions): AsyncGenerator<WatchEvent, void, undefined> {
    return watchResource(this.#watchWiring, ref, options);
  }

  /** One answer of a watch, on a connection that many such share; it ends with the first cut. */
  watchOnce(ref: ResourceRef, options: WatchOptions): AsyncGenerator<WatchEvent, void, undefined> {
    return watchOnce(this.#watchWiring, ref, options);
  }

  get #watchWiring(): WatchWiring {
    return { calls: this.#calls, clock: this.#clock, random: this.#random, log: this.#log };
  }

  /**
   * Server-side apply. With a uid or resourceVersion in the manifest it is a KUBE_CONFLICT unless
   * these still hold.
   */
  async apply(ref: ResourceRef, manifest: Manifest, options: ApplyOptions): Promise<KubeObject> {
    return this.#writes.apply(ref, await this.#onWrite(manifest, options, ref), options);
  }

  patch(
    ref: ResourceRef,
    target: ObjectName,
    patch: Patch,
    options: PatchOptions = {},
  ): Promise<KubeObject> {
    return this.#writes.patch(ref, target, patch, options);
  }

  /** Replaces the object as it was read: the manifest carries its resourceVersion. */
  update(
    ref: ResourceRef,
    manifest: VersionedManifest,
    options: UpdateOptions = {},
  ): Promise<KubeObject> {
    return this.#writes.update(ref, manifest, options);
  }

  /** Idempotent by name: an object that is there already is returned, and said not to be new. */
  async create(
    ref: ResourceRef,
    manifest: Manifest | NamelessManifest,
    options: WriteOptions = {},
  ): Promise<Created> {
    return this.#writes.create(ref, await this.#onWrite(manifest, options), options);
  }

  createSubresource(
    ref: ResourceRef,
    target: ObjectName & { readonly subresource: string },
    body: Readonly<Record<string, unknown>>,
    options: WriteOptions = {},
  ): Promise<KubeObject> {
    return this.#writes.createSubresource(ref, target, body, options);
  }

  delete(
    ref: ResourceRef,
    target: Omit<ObjectName, 'subresource'>,
    precondition: Precondition,
    options: DeleteOptions = {},
  ): Promise<Deletion> {
    return this.#writes.delete(ref, target, precondition, options);
  }

  /** The resource of a kind; undefined when the API server does not know it. */
  resourceFor(
    apiVersion: string,
    kind: string,
    options: CallOptions = {},
  ): Promise<DiscoveredResource | undefined> {
    return this.#discovery.find(apiVersion, kind, options);
  }

  /** Anything else: `/version`, `/readyz`, a sub-resource that is not JSON. */
  raw({ signal, timeoutMs, ...request }: RawRequest): Promise<Answer> {
    const about = { verb: request.method.toLowerCase(), path: request.path };
    return this.#calls.send({ about, ...request }, { signal, timeoutMs });
  }

  /**
   * How many requests were sent, by what RBAC would have to grant: `patch
   * deployments.apps/status`.
   */
  counts(): ReadonlyMap<string, number> {
    return new Map(this.#calls.counts);
  }

  resetCounts(): void {
    this.#calls.counts.clear();
  }

  get connectionsOpened(): number {
    return this.#connection.connectionsOpened;
  }

  /** Ends every watch, and every call still in flight. */
  async close(): Promise<void> {
    await this.#connection.close();
  }
}
