// A place for takeovers: a real etcd of three members as an operator left it, that operator, and
// all functions that carry a takeover out, each with the rights of its own account; members of the
// new cluster and pods of Jobs are processes.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { takeover } from '../../../functions/takeover/index.ts';
import { etcdBackupRights } from '../../../knative/tools/rights/etcd-backup.ts';
import { etcdRestoreRights } from '../../../knative/tools/rights/etcd-restore.ts';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { askLegacy } from '../../../shared/etcd/legacy.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { startOperator } from '../../builders/legacy-kind.ts';
import type { OldPod } from '../../builders/old-pods.ts';
import { SHIPPED } from '../../builders/shipped.ts';
import { type Audit, prepareAudit } from '../../lanes/audit.ts';
import { EtcdPlace } from '../etcd-cluster/etcd-place.ts';
import type { Named } from '../etcd-cluster/etcd-scene.ts';
import { Copying } from './copying.ts';
import { keepSweeping } from './keep-sweeping.ts';
import { LegacyClient } from './legacy-client.ts';
import { MortalPlace } from './mortal-place.ts';
import { alive } from './mortal-takeover.ts';
import { namespace, type OldSide } from './old-side.ts';
import { requestsIn } from '../manifests/installed.ts';
import { type Misfits, misfitsOf } from '../manifests/misfits.ts';

/** Members of a new cluster alone took 38 s on a loaded machine. */
const WITHIN_MS = 240_000;

type PlaceParts = 'etcd' | 'copying' | 'side';

export class TakeoverPlace extends MortalPlace {
  readonly etcd: EtcdPlace;
  readonly side: OldSide;
  readonly copying: Copying;
  readonly #audit: Audit;
  protected override readonly withinMs = WITHIN_MS;

  private constructor({ etcd, side, copying }: Pick<TakeoverPlace, PlaceParts>, audit: Audit) {
    super(etcd.kube, namespace);
    this.etcd = etcd;
    this.side = side;
    this.copying = copying;
    this.#audit = audit;
  }

  static async start(side: OldSide): Promise<TakeoverPlace> {
    const { members } = side;
    const audit = await prepareAudit();
    const { flags: apiServerFlags } = audit;
    const etcd = await EtcdPlace.start({ controllers: ['job-controller'], apiServerFlags });
    const hosts = Object.fromEntries(members.map(({ host, ip }) => [host, ip]));
    const copying = await Copying.start(etcd, hosts);
    const place = new TakeoverPlace({ etcd, copying, side }, audit);
    await Promise.all(members.map((one) => place.#startMember(one)));
    await place.#leave();
    await place.startTakeover(alive);
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

  async #startMember(member: OldPod): Promise<void> {
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

  async stop(): Promise<void> {
    await this.stopTakeover();
    await this.copying.stop();
    await this.etcd.stop();
    await this.#audit.remove();
  }

  /** All that the account of the function asked until now, held against its rights. */
  async misfits(): Promise<Misfits> {
    const requests = requestsIn(await readFile(this.#audit.logPath));
    const objects = [...SHIPPED.map(({ object }) => object), ...this.#rights()];
    return misfitsOf({ account: takeover.name, requests, objects, grantedAtMs: 0 });
  }

  async confirm(name: string): Promise<string> {
    const into = { name: 'old-2', spec: this.side.tls?.into ?? {} };
    await this.side.takeOver(this.etcd.kube, name, into);
    return this.confirmPlan(name);
  }

  protected override kubeconfigOf(account: Named): Promise<string> {
    return this.etcd.kubeconfigOf(account);
  }

  protected override wakeOthers(signal: AbortSignal): Promise<void> {
    const ports = ['etcd-cluster', 'etcd-peer'].map((one) => this.etcd.portOf(one));
    return keepSweeping([...ports, ...this.copying.ports], signal);
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
