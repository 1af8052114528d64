// A control plane of real parts on loopback: one harness for `npm start` and for the tests. Each
// plane has its own directory and ports, so any number of them run at once.
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { resolvePart } from '../parts/resolve.ts';
import { type Part, type PartChange, PartProcess, type PartSpec } from '../process/part.ts';
import { freePort, isPortTaken } from '../process/ports.ts';
import {
  claimDirectory,
  makeRunDirectory,
  type RunDirectory,
  sweepLeftovers,
} from '../process/run-directory.ts';
import { Supervisor } from '../process/supervisor.ts';
import { findPart, type PlaneAddress } from './address.ts';
import { etcdSpec } from './etcd.ts';
import { apiServerSpec, caPath, prepareApiServer, type StaticUser } from './kube-apiserver.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { kwokSpec } from './kwok.ts';
import { Links } from './links.ts';
import { PartsFile } from './parts-file.ts';
import { type NatsWithAccountsOptions, natsWithAccounts } from './nats-server.ts';

export type CorePart = 'etcd' | 'kube-apiserver' | 'nats-server' | 'kwok';

export interface PlaneOptions {
  /** Default: etcd, kube-apiserver, nats-server. */
  readonly parts?: readonly CorePart[];
  /** `backoff` starts a part that died again, as a kubelet would; tests decide themselves. */
  readonly restart?: 'never' | 'backoff';
  /** Puts a proxy on each connection between parts, so that they can be partitioned. */
  readonly links?: boolean;
  /**
   * Where etcd and NATS keep their data; by default inside the plane's own directory, which goes
   * with it.
   */
  readonly dataDir?: string;
  /** Ports that somebody chose; all others are free ones. */
  readonly ports?: Readonly<Partial<Record<CorePart, number>>>;
  /** For the API server, the largest part: the less, the less memory and the more CPU. */
  readonly goGcPercent?: number;
  /** Users of NATS beside those that each plane has, for what they read. */
  readonly natsReaders?: NatsWithAccountsOptions['readers'];
  /** Given to the API server beside its own: feature gates, and APIs that are off by default. */
  readonly apiServerFlags?: readonly string[];
  readonly onChange?: (change: PartChange) => void;
  /** Commands that look for a running plane pass it by. */
  readonly isScratch?: boolean;
  /** No part is started any more once it aborts. */
  readonly signal?: AbortSignal | undefined;
}

export interface Plane extends PlaneAddress {
  part(name: string): Part;
  parts(): readonly Part[];
  /**
   * One more API server on the same etcd, under another address of loopback and the port of the
   * first; `Plane.kubeconfigPath` goes on to name the first.
   */
  addApiServer(name: string, address: string): Promise<Part>;
  /** Starts one more part under the plane's care. */
  add(spec: PartSpec): Promise<Part>;
  /**
   * The URL on which the part `client` reaches the part `server`: its own proxy when the plane has
   * links, and with its own login as `user` where the server knows one.
   */
  urlFor(client: string, server: string, user?: string): Promise<string>;
  /** Cuts every connection of a part, or those between two parts; silent until healed. */
  partition(name: string, other?: string): void;
  heal(name: string, other?: string): void;
  /** Ends everything and removes what is not to be kept. */
  stop(): Promise<void>;
}

const DEFAULT_PARTS: readonly CorePart[] = ['etcd', 'kube-apiserver', 'nats-server'];
/** As in clusters: for whoever measures the API server. */
export const GO_GC_AS_SHIPPED = { goGcPercent: 100 };
/** Most planes live for seconds: 100 MB more than at Go's own, for a sixth less CPU to start. */
const GO_GC_PERCENT = 400;

export async function startPlane(options: PlaneOptions = {}): Promise<Plane> {
  await sweepLeftovers();
  if (options.dataDir !== undefined) await claimDirectory(options.dataDir);
  const run = await makeRunDirectory('plane', options.isScratch);
  const plane = new LocalPlane(run, options);
  try {
    await plane.start(options.parts ?? DEFAULT_PARTS);
    return plane;
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

class LocalPlane implements Plane {
  readonly #run: RunDirectory;
  readonly #options: PlaneOptions;
  readonly #dataDir: string;
  readonly #links: Links;
  readonly #supervisor: Supervisor;
  readonly #parts = new Map<string, PartProcess>();
  readonly #partsFile: PartsFile;
  readonly #adminToken = randomBytes(24).toString('hex');
  /** A part that is started after this would be left behind. */
  #isStopping = false;

  constructor(run: RunDirectory, options: PlaneOptions) {
    this.#run = run;
    this.#options = options;
    this.#dataDir = options.dataDir ?? join(run.path, 'data');
    this.#partsFile = new PartsFile(run.path);
    this.#links = new Links(options.links ?? false);
    this.#supervisor = new Supervisor(options.restart ?? 'never', (change) =>
      this.#onChange(change),
    );
  }

  get dir(): string {
    return this.#run.path;
  }
  get kubeconfigPath(): string {
    return join(this.#run.path, 'kubeconfig');
  }
  get caPath(): string {
    return caPath(this.#dataDir);
  }

  part(name: string): Part {
    return findPart(this.parts(), name);
  }

  parts(): readonly Part[] {
    return [...this.#parts.values()];
  }

  async add(spec: PartSpec): Promise<Part> {
    this.#options.signal?.throwIfAborted();
    if (this.#isStopping) throw new Error(`${spec.name} cannot start: the plane is ending`);
    if (this.#parts.has(spec.name)) throw new Error(`a part named ${spec.name} is there already`);
    const part = new PartProcess(spec, this.#run.mark, this.#supervisor.onChange);
    this.#parts.set(spec.name, part);
    // An abort does not wait for a part that may never be ready.
    const { signal } = this.#options;
    const onAbort = (): void => void part.kill();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await part.start();
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
    return part;
  }

  async urlFor(client: string, server: string, user = ''): Promise<string> {
    const part = this.part(server);
    const url = new URL(part.urls?.[user] ?? part.url);
    url.port = String(await this.#links.port(client, server, Number(url.port)));
    return url.href.replace(/\/$/, '');
  }

  partition(name: string, other?: string): void {
    for (const link of this.#links.between(name, other)) link.cut();
  }

  heal(name: string, other?: string): void {
    for (const link of this.#links.between(name, other)) link.heal();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#supervisor.close();
    // Clients before servers, so that nobody's last words are complaints about a missing server.
    const order = [...this.#parts.values()].toReversed();
    const core = order.filter(({ name }) => name === 'etcd' || name.startsWith('kube-apiserver'));
    await Promise.all(order.filter((part) => !core.includes(part)).map((part) => part.stop()));
    // An API server keeps nothing that could be lost, and takes a second to end politely.
    for (const part of core) await (part.name === 'etcd' ? part.stop() : part.kill());
    await this.#links.close();
    await this.#partsFile.close();
    await this.#run.remove();
  }

  async start(names: readonly CorePart[]): Promise<void> {
    await mkdir(this.#dataDir, { recursive: true });
    await Promise.all([
      names.includes('etcd') ? this.#startEtcd() : undefined,
      names.includes('nats-server') ? this.#startNats() : undefined,
    ]);
    if (names.includes('kube-apiserver')) await this.#startApiServer();
    if (names.includes('kwok')) await this.#startKwok();
  }

  async #startEtcd(): Promise<void> {
    const [binary, clientPort, peerPort] = await Promise.all([
      resolvePart('etcd'),
      this.#port('etcd'),
      freePort(),
    ]);
    await this.add(etcdSpec({ binary, dir: this.#dataDir, clientPort, peerPort }));
  }

  async #startNats(): Promise<void> {
    const [binary, port, monitorPort] = await Promise.all([
      resolvePart('nats-server'),
      this.#port('nats-server'),
      freePort(),
    ]);
    const { natsReaders: readers } = this.#options;
    const dir = this.#dataDir;
    await this.add(await natsWithAccounts({ binary, dir, port, monitorPort, readers }));
  }

  async #startApiServer(): Promise<void> {
    const admin: StaticUser = {
      token: this.#adminToken,
      name: 'admin',
      groups: ['system:masters'],
    };
    const [port] = await Promise.all([
      this.#port('kube-apiserver'),
      prepareApiServer(this.#dataDir, [admin]),
    ]);
    await this.#runApiServer('kube-apiserver', '127.0.0.1', port);
    await this.#writeAdminKubeconfig(this.kubeconfigPath, this.part('kube-apiserver').url);
  }

  addApiServer(name: string, address: string): Promise<Part> {
    const { port } = new URL(this.part('kube-apiserver').url);
    return this.#runApiServer(name, address, Number(port));
  }

  async #runApiServer(name: string, address: string, port: number): Promise<Part> {
    const [binary, etcdUrl] = await Promise.all([
      resolvePart('kube-apiserver'),
      this.urlFor(name, 'etcd'),
    ]);
    const { goGcPercent = GO_GC_PERCENT, apiServerFlags: moreFlags } = this.#options;
    const dir = this.#dataDir;
    const options = { binary, dir, name, address, port, etcdUrl, goGcPercent, moreFlags };
    return this.add(apiServerSpec(options));
  }

  async #startKwok(): Promise<void> {
    const [binary, port, server] = await Promise.all([
      resolvePart('kwok'),
      this.#port('kwok'),
      this.urlFor('kwok', 'kube-apiserver'),
    ]);
    const kubeconfigPath = join(this.dir, 'kwok.kubeconfig');
    await this.#writeAdminKubeconfig(kubeconfigPath, server);
    await this.add(kwokSpec({ binary, dir: this.dir, port, kubeconfigPath }));
  }

  async #writeAdminKubeconfig(path: string, server: string): Promise<void> {
    const credential = { token: this.#adminToken };
    await writeKubeconfig(path, { server, ca: { path: this.caPath }, user: 'admin', credential });
  }

  async #port(name: CorePart): Promise<number> {
    const chosen = this.#options.ports?.[name];
    if (chosen === undefined) return freePort();
    if (!(await isPortTaken(chosen))) return chosen;
    throw new Error(
      `port ${chosen}, asked for ${name}, is taken by another process; choose another`,
    );
  }

  #onChange(change: PartChange): void {
    this.#partsFile.write(this.parts());
    this.#options.onChange?.(change);
  }
}
