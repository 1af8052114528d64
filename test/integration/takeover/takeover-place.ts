// A place for takeovers: a real etcd of three members as an operator left it, that operator, and
// all functions that carry a takeover out, each with the rights of its own account; members of the
// new cluster and pods of Jobs are processes.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { etcdBackup } from '../../../functions/etcd-backup/index.ts';
import { etcdRestore } from '../../../functions/etcd-restore/index.ts';
import { takeover } from '../../../functions/takeover/index.ts';
import { etcdBackupRights } from '../../../knative/tools/rights/etcd-backup.ts';
import { etcdRestoreRights } from '../../../knative/tools/rights/etcd-restore.ts';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import { TAKEOVERS, type TakeoverStatus } from '../../../shared/api/takeover.ts';
import { systemClock } from '../../../shared/clock.ts';
import { askLegacy } from '../../../shared/etcd/legacy.ts';
import { SWEEP } from '../../../shared/function/sources.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { confirmPlan, startOperator, takeoverStatus } from '../../builders/legacy-kind.ts';
import { SHIPPED } from '../../builders/shipped.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { type Audit, prepareAudit } from '../../lanes/audit.ts';
import { until } from '../../builders/versioned-kind.ts';
import type { JobPods } from '../etcd-backup/job-pods.ts';
import { EtcdPlace } from '../etcd-cluster/etcd-place.ts';
import { environmentOf, startJobPods } from './copying.ts';
import { keepSweeping } from './keep-sweeping.ts';
import { LegacyClient } from './legacy-client.ts';
import { type Member, namespace, type OldSide } from './old-side.ts';
import { requestsIn } from '../manifests/installed.ts';
import { type Misfits, misfitsOf } from '../manifests/misfits.ts';

/** Members of a new cluster alone took 38 s on a loaded machine. */
const WITHIN_MS = 240_000;
const WAKE_EVERY_MS = 500;

type PlaceParts = 'etcd' | 'backups' | 'restores' | 'side';

export class TakeoverPlace {
  readonly etcd: EtcdPlace;
  readonly side: OldSide;
  readonly backups: JobPods;
  readonly restores: JobPods;
  readonly #audit: Audit;
  readonly #functions = new Map<string, RunningFunction>();
  /** The last ones, for the reader of a failed scenario. */
  readonly #answers = new Map<string, string>();

  private constructor(parts: Pick<TakeoverPlace, PlaceParts>, audit: Audit) {
    this.etcd = parts.etcd;
    this.backups = parts.backups;
    this.restores = parts.restores;
    this.side = parts.side;
    this.#audit = audit;
  }

  static async start(side: OldSide): Promise<TakeoverPlace> {
    const { members } = side;
    const audit = await prepareAudit();
    const { flags: apiServerFlags } = audit;
    const etcd = await EtcdPlace.start({ controllers: ['job-controller'], apiServerFlags });
    const hosts = Object.fromEntries(members.map(({ host, ip }) => [host, ip]));
    const { backups, restores } = await startJobPods(etcd, hosts);
    const place = new TakeoverPlace({ etcd, backups, restores, side }, audit);
    await Promise.all(members.map((one) => place.#startMember(one)));
    await place.#leave();
    for (const definition of [etcdBackup, etcdRestore, takeover]) {
      await place.startFunction(definition);
    }
    return place;
  }

  /** As an operator leaves it, with the rights that a person grants to the functions. */
  async #leave(): Promise<void> {
    const { etcd, side } = this;
    const { kube } = etcd;
    const { operator } = side;
    for (const one of new Set([namespace, operator.namespace])) await etcd.namespace(one);
    const rights = [etcdBackupRights, etcdRestoreRights].flatMap((of) => of(namespace));
    await applyObjects(
      kube,
      [...rights, ...this.#rights()].map((object) => ({ file: 'npm run rights', object })),
    );
    for (const secret of side.tls?.secrets() ?? []) await kube.create(SECRETS, secret);
    await side.leave(kube);
    await startOperator(kube, operator.namespace, 'etcd-operator');
  }

  #rights(): readonly Manifest[] {
    const { operator, tls } = this.side;
    const elsewhere = operator.namespace === namespace ? undefined : operator;
    return takeoverRights(namespace, tls?.secretNames, elsewhere, ['old-2']);
  }

  /** As one that has Secrets of this cluster, under the name that clients know. */
  client(): LegacyClient {
    return new LegacyClient(this.side.tls?.client, `${this.side.service}.${namespace}.svc`);
  }

  async #startMember(member: Member): Promise<void> {
    const { name, ip, host } = member;
    const { tls, peers: scheme, members, etcd, flags } = this.side;
    const url = `${tls === undefined ? 'http' : 'https'}://${ip}:2379`;
    const peers = members.map((one) => `${one.name}=${scheme}://${one.ip}:2380`).join(',');
    const { plane } = this.etcd;
    const shown = (await tls?.memberFlags(join(plane.dir, `${name}-tls`))) ?? [];
    const endpoint = { url, serverName: host };
    const ask = () => askLegacy(endpoint, tls?.client, { timeoutMs: 2_000 });
    await plane.add({
      name,
      command: await resolvePart(etcd),
      args: [
        `--name=${name}`,
        `--data-dir=${join(plane.dir, name)}`,
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${tls === undefined ? url : `https://${host}:2379`}`,
        `--listen-peer-urls=${scheme}://${ip}:2380`,
        `--initial-advertise-peer-urls=${scheme}://${ip}:2380`,
        `--initial-cluster=${peers}`,
        '--initial-cluster-state=new',
        ...flags(member),
        ...shown,
      ],
      env: {},
      url,
      ready: async () => (await ask()).isQuorate,
    });
  }

  part(name: string): Part {
    return this.etcd.plane.part(name);
  }

  async startFunction(definition: typeof takeover | typeof etcdBackup | typeof etcdRestore) {
    const { name } = definition;
    const environment = await environmentOf(this.etcd, name);
    const build = { version: '0.0.0', commit: '' };
    this.#functions.set(
      name,
      await startFunction(definition as typeof takeover, { environment, build }),
    );
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#functions.values()].map((one) => one.stop()));
    await Promise.all([this.backups.stop(), this.restores.stop()]);
    await this.etcd.stop();
    await this.#audit.remove();
  }

  /** All that the account of the function asked until now, held against its rights. */
  async misfits(): Promise<Misfits> {
    const requests = requestsIn(await readFile(this.#audit.logPath));
    const objects = [...SHIPPED.map(({ object }) => object), ...this.#rights()];
    return misfitsOf({ account: takeover.name, requests, objects, grantedAtMs: 0 });
  }

  /** Ends the function amid whatever it does, and starts another one. */
  async restartTakeover(another: typeof takeover): Promise<void> {
    await this.#functions.get(takeover.name)?.stop();
    await this.startFunction(another);
  }

  async sweep(name: string): Promise<void> {
    const port = this.#functions.get(name)?.port ?? 0;
    const answer = await sendEvent(port, SWEEP, {});
    this.#answers.set(name, `${name} ${answer.status} ${await answer.text()}`);
  }

  status(name: string): Promise<TakeoverStatus> {
    return takeoverStatus(this.etcd.kube, { namespace, name });
  }

  async edit(name: string, spec: object): Promise<void> {
    await this.etcd.kube.patch(TAKEOVERS, { namespace, name }, { type: 'merge', body: { spec } });
  }

  async confirm(name: string): Promise<string> {
    const into = { name: 'old-2', spec: this.side.tls?.into ?? {} };
    await this.side.takeOver(this.etcd.kube, name, into);
    await this.sweep(takeover.name);
    return confirmPlan(this.etcd.kube, { namespace, name });
  }

  /** Every function is woken again and again until it is so. */
  async wakeUntil(
    name: string,
    what: string,
    isSo: (status: TakeoverStatus) => boolean | Promise<boolean>,
  ): Promise<void> {
    const done = new AbortController();
    const waking = [...this.#functions.keys()].map(async (one) => {
      while (!done.signal.aborted) {
        await this.sweep(one).catch(() => undefined);
        await systemClock.sleep(WAKE_EVERY_MS);
      }
    });
    // Those that make an EtcdCluster of what was restored.
    const ports = ['etcd-cluster', 'etcd-peer'].map((one) => this.etcd.portOf(one));
    const cluster = keepSweeping(ports, done.signal);
    try {
      await until(what, async () => isSo(await this.status(name)), WITHIN_MS);
    } catch (cause) {
      const errors = [...this.#answers.values(), ...this.backups.errors, ...this.restores.errors]
        .map(String)
        .join('; ');
      const status = JSON.stringify({ ...(await this.status(name)), plan: undefined }, null, 1);
      throw new Error(`${errors} ${status}`, { cause });
    } finally {
      done.abort();
      await Promise.all([...waking, cluster]);
    }
  }

  /** Those that are there. */
  async found(resource: string, group = 'ballast.dev'): Promise<readonly string[]> {
    const version = group === 'ballast.dev' ? 'v1alpha1' : 'v1';
    try {
      const { items } = await this.etcd.kube.list({ group, version, resource }, { namespace });
      return items.map(({ metadata }) => metadata.name).toSorted();
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return [];
      throw error;
    }
  }
}
