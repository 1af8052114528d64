// A place for takeovers of a NATS, whoever made it: three old servers, 50 clients behind their
// Service, and the functions that carry a takeover out, each with the rights of its own account.
// New servers are real ones, too.
import { readFile } from 'node:fs/promises';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { askAccounts } from '../../../shared/nats/monitor.ts';
import { PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import type { OldPod } from '../../builders/old-pods.ts';
import { SHIPPED } from '../../builders/shipped.ts';
import { type Audit, prepareAudit } from '../../lanes/audit.ts';
import { requestsIn } from '../manifests/installed.ts';
import { type Misfits, misfitsOf } from '../manifests/misfits.ts';
import { CoreTraffic, type CoreTrafficOptions } from '../nats-cluster/core-traffic.ts';
import { Place } from '../nats-cluster/place.ts';
import type { Named } from '../nats-cluster/scene.ts';
import { ServiceHere } from '../nats-cluster/service-here.ts';
import { MortalPlace } from './mortal-place.ts';
import { alive } from './mortal-takeover.ts';

export const namespace = 'mill';
export const LOGIN = { user: 'web', pass: 'known to both' };
export const CLIENTS = 50;
/** A client that never comes back is waited for for a minute, beside all that takes its time. */
const WITHIN_MS = 300_000;
const LOOK_EVERY_MS = 50;

export interface Opened {
  readonly place: Place;
  readonly audit: Audit;
}

export async function openPlace(servers: readonly OldPod[]): Promise<Opened> {
  const audit = await prepareAudit();
  const lines = servers.map(({ ip, host }) => `${ip} ${host}`);
  return { audit, place: await Place.start({ apiServerFlags: audit.flags, hosts: lines }) };
}

export abstract class RoutedPlace extends MortalPlace {
  readonly place: Place;
  readonly #audit: Audit;
  #parts: ReadonlyMap<string, Part> = new Map();
  readonly #closed = new AbortController();
  #loop: Promise<unknown> = Promise.resolve();
  #service: ServiceHere | undefined;
  #traffic: CoreTraffic | undefined;
  #natsCluster: RunningFunction | undefined;
  protected override readonly withinMs = WITHIN_MS;

  abstract readonly servers: readonly OldPod[];

  protected constructor({ place, audit }: Opened) {
    super(place.kube, namespace);
    this.place = place;
    this.#audit = audit;
  }

  protected abstract readonly tls: CoreTrafficOptions['tls'];
  /** Rights that a person grants to the function. */
  protected abstract readonly rights: readonly Manifest[];

  /** By their names, when all are ready. */
  protected abstract startOld(): Promise<ReadonlyMap<string, Part>>;

  /** Makes all objects of the old NATS, and what a person makes before. */
  protected abstract leave(): Promise<void>;

  /** A Takeover of this name into new servers of that one, with its plan confirmed; its id. */
  abstract confirm(name: string, into: string): Promise<string>;

  /** Others who make or end pods of the old NATS do so. */
  protected abstract follow(): Promise<void>;

  protected async begin(): Promise<void> {
    this.#parts = await this.startOld();
    await this.place.namespace(namespace);
    await applyObjects(
      this.kube,
      this.rights.map((object) => ({ file: 'npm run rights', object })),
    );
    await this.leave();
    this.#service = await ServiceHere.start(this.servers.map(({ ip }) => `${ip}:4222`));
    this.#loop = this.#follow();
    this.#natsCluster = await this.place.startFunction();
    await this.startTakeover(alive);
    const server = this.#service.address;
    this.#traffic = await CoreTraffic.start({ server, ...LOGIN, tls: this.tls, clients: CLIENTS });
  }

  /** Plays kube-proxy for the Service of the clients, and the kubelet for old pods. */
  async #follow(): Promise<void> {
    const { kube } = this.place;
    while (!this.#closed.signal.aborted) {
      await this.follow();
      const pods = (await kube.list(PODS, { namespace })).items;
      const there = new Set(pods.map(({ metadata }) => metadata.name));
      for (const [name, part] of this.#parts) {
        if (!there.has(name)) await part.stop();
      }
      const service = await kube.get(SERVICES, { namespace, name: 'old' });
      const selector = Object.entries(Object(Object(service?.['spec']).selector));
      const behind = pods.filter(({ metadata, status }) => {
        const isChosen = selector.every(([key, value]) => metadata.labels?.[key] === value);
        return isChosen && Object(status).phase === 'Running' && !metadata.deletionTimestamp;
      });
      this.#service?.leadTo(behind.map(({ status }) => `${String(Object(status).podIP)}:4222`));
      await systemClock.sleep(LOOK_EVERY_MS);
    }
  }

  /** Its clients know the address of the Service alone. */
  get traffic(): CoreTraffic {
    if (this.#traffic === undefined) throw new Error('nothing was started');
    return this.#traffic;
  }

  /** Those that are connected to servers of this NatsCluster. */
  async clientsOf(name: string): Promise<number> {
    const addresses = await this.place.addresses({ namespace, name });
    const asked = addresses.map((at) =>
      askAccounts(`http://${at.replace(/:\d+$/, '')}:8222`, {
        timeoutMs: 2_000,
        signal: this.#closed.signal,
      }),
    );
    const counts = (await Promise.all(asked)).map((accounts) => accounts.get('$G') ?? 0);
    return counts.reduce((sum, count) => sum + count, 0);
  }

  protected override kubeconfigOf(account: Named): Promise<string> {
    return this.place.kubeconfigOf(account);
  }

  protected override async wakeOthers(signal: AbortSignal): Promise<void> {
    const ours = this.#natsCluster;
    if (ours === undefined) throw new Error('nothing was started');
    while (!signal.aborted) {
      await this.place.tick(ours);
      await systemClock.sleep(LOOK_EVERY_MS);
    }
  }

  /** All that the account of the function asked until now, held against its rights. */
  async misfits(): Promise<Misfits> {
    const requests = requestsIn(await readFile(this.#audit.logPath));
    const objects = [...SHIPPED.map(({ object }) => object), ...this.rights];
    return misfitsOf({ account: 'takeover', requests, objects, grantedAtMs: 0 });
  }

  async stop(): Promise<void> {
    await this.#traffic?.close();
    this.#closed.abort();
    await this.#loop;
    await this.#service?.stop();
    await this.stopTakeover();
    await this.place.stop();
    await this.#audit.remove();
  }
}
