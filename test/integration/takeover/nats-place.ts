// A place for takeovers of a NATS: three servers of 2.1.9 with logins and TLS everywhere as bare
// pods, an operator of them, 50 clients behind their Service, and the functions that carry a
// takeover out, each with the rights of its own account. New servers are real ones, too.
import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { askAccounts } from '../../../shared/nats/monitor.ts';
import { PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import { issue, makeAuthority } from '../../../shared/x509.ts';
import { startOperator } from '../../builders/legacy-kind.ts';
import { defineLegacyNats, LegacyNats } from '../../builders/legacy-nats.ts';
import { startOldNats } from '../../builders/old-nats-servers.ts';
import { SHIPPED } from '../../builders/shipped.ts';
import { type Audit, prepareAudit } from '../../lanes/audit.ts';
import { requestsIn } from '../manifests/installed.ts';
import { type Misfits, misfitsOf } from '../manifests/misfits.ts';
import { CoreTraffic } from '../nats-cluster/core-traffic.ts';
import { Place } from '../nats-cluster/place.ts';
import type { Named } from '../nats-cluster/scene.ts';
import { ServiceHere } from '../nats-cluster/service-here.ts';
import { MortalPlace } from './mortal-place.ts';
import { alive } from './mortal-takeover.ts';

export const namespace = 'mill';
const NETWORK = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
export const OLD = [1, 2, 3].map((at) => ({
  name: `old-${at}`,
  ip: `${NETWORK}.${at}`,
  host: `old-${at}.old-mgmt.${namespace}.svc`,
}));
export const LOGIN = { user: 'web', pass: 'known to both' };
export const CLIENTS = 50;
/** A NatsCluster for each time that it is rolled back. */
const INTO = Array.from({ length: 8 }, (_, at) => `next-${at}`);
const HOST = `old.${namespace}.svc`;
/** A client that never comes back is waited for for a minute, beside all that takes its time. */
const WITHIN_MS = 300_000;
const LOOK_EVERY_MS = 50;

const validity = { fromMs: Date.now() - 60_000, toMs: Date.now() + 3_600_000 };
const authority = makeAuthority('nats', validity);
const names = INTO.flatMap((name) => [name, `*.${name}-headless`]);
const hosts = [HOST, ...OLD.map(({ ip }) => ip), ...OLD.map(({ host }) => host)];
const { certPem, keyPem } = issue(
  authority,
  { hosts: [...hosts, ...names.map((name) => `${name}.${namespace}.svc`)] },
  validity,
);
const USERS = { users: [{ username: LOGIN.user, password: LOGIN.pass }] };
const SECRETS = ['old', 'new-tls', ...INTO.map((name) => `${name}-users`)];

export class NatsTakeoverPlace extends MortalPlace {
  readonly place: Place;
  readonly old: LegacyNats;
  readonly #audit: Audit;
  #servers: ReadonlyMap<string, Part> = new Map();
  readonly #closed = new AbortController();
  #loop: Promise<unknown> = Promise.resolve();
  #service: ServiceHere | undefined;
  #natsCluster: RunningFunction | undefined;
  protected override readonly withinMs = WITHIN_MS;

  private constructor(place: Place, audit: Audit) {
    super(place.kube, namespace);
    this.place = place;
    this.old = new LegacyNats(place.kube, namespace, 'old');
    this.#audit = audit;
  }

  static async start(): Promise<NatsTakeoverPlace> {
    const audit = await prepareAudit();
    const lines = OLD.map(({ ip, host }) => `${ip} ${host}`);
    const place = await Place.start({ apiServerFlags: audit.flags, hosts: lines });
    const one = new NatsTakeoverPlace(place, audit);
    await one.#startOld();
    await one.#leave();
    one.#service = await ServiceHere.start(OLD.map(({ ip }) => `${ip}:4222`));
    one.#loop = one.#follow();
    one.#natsCluster = await place.startFunction();
    await one.startTakeover(alive);
    return one;
  }

  async #startOld(): Promise<void> {
    const { plane } = this.place;
    this.#servers = await startOldNats({
      dir: plane.dir,
      servers: OLD,
      certPem,
      keyPem,
      caPem: authority.certPem,
      config: { authorization: USERS },
      add: (spec) => plane.add(spec),
    });
  }

  /** As an operator leaves it, with the rights that a person grants to the functions. */
  async #leave(): Promise<void> {
    const { place } = this;
    await place.namespace(namespace);
    await applyObjects(
      place.kube,
      takeoverRights(namespace, SECRETS).map((object) => ({ file: 'npm run rights', object })),
    );
    const files = { 'tls.crt': certPem, 'tls.key': keyPem, 'ca.crt': authority.certPem };
    await place.putSecret({ namespace, name: '' }, 'new-tls', files);
    await defineLegacyNats(place.kube);
    const tls = { cert_file: 'tls.crt' };
    await this.old.create(OLD, { cluster: { port: 6222, tls }, authorization: USERS, tls });
    await startOperator(place.kube, namespace, 'nats-operator');
  }

  /** Plays kube-proxy for the Service of the clients, and the kubelet for old pods. */
  async #follow(): Promise<void> {
    const { kube } = this.place;
    while (!this.#closed.signal.aborted) {
      const pods = (await kube.list(PODS, { namespace })).items;
      const there = new Set(pods.map(({ metadata }) => metadata.name));
      for (const [name, part] of this.#servers) {
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

  startTraffic(): Promise<CoreTraffic> {
    const server = this.#service?.address ?? '';
    const tls = { ca: authority.certPem, servername: HOST };
    return CoreTraffic.start({ server, ...LOGIN, tls, clients: CLIENTS });
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

  async confirm(name: string, into: string): Promise<string> {
    const given = { secretName: 'new-tls' };
    await this.old.takeOver(name, { tls: { clients: given, routes: given } }, into);
    return this.confirmPlan(name);
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
    const objects = [...SHIPPED.map(({ object }) => object), ...takeoverRights(namespace, SECRETS)];
    return misfitsOf({ account: 'takeover', requests, objects, grantedAtMs: 0 });
  }

  async stop(): Promise<void> {
    this.#closed.abort();
    await this.#loop;
    await this.#service?.stop();
    await this.stopTakeover();
    await this.place.stop();
    await this.#audit.remove();
  }
}
