// A place for takeovers from improbable's operator: a real etcd 3.3.27 of three members that know
// each other by names of the one Service alone, a peer of a fourth that was removed by an operator
// that died over it, and all functions, each with the rights of its own account.
import { randomInt } from 'node:crypto';
import { link, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { etcdBackup } from '../../../functions/etcd-backup/index.ts';
import { etcdRestore } from '../../../functions/etcd-restore/index.ts';
import { etcdBackupRights } from '../../../knative/tools/rights/etcd-backup.ts';
import { etcdRestoreRights } from '../../../knative/tools/rights/etcd-restore.ts';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { IMPROBABLE_ETCDS } from '../../../shared/api/takeover.ts';
import { systemClock } from '../../../shared/clock.ts';
import { askLegacy } from '../../../shared/etcd/legacy.ts';
import { SWEEP } from '../../../shared/function/sources.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { SERVICES } from '../../../shared/stateful/parts.ts';
import {
  CLEANUP,
  IMPROBABLE_PEERS,
  improbableOf,
  leaveOnServer,
} from '../../builders/legacy-improbable.ts';
import {
  createTakeover,
  defineLegacyKind,
  leaveWebhook,
  startOperator,
  WEBHOOKS,
} from '../../builders/legacy-kind.ts';
import { giveTo, rooted } from '../../builders/rooted.ts';
import { sendEvent } from '../../builders/send-event.ts';
import type { JobPods } from '../etcd-backup/job-pods.ts';
import { EtcdPlace } from '../etcd-cluster/etcd-place.ts';
import type { Named } from '../etcd-cluster/etcd-scene.ts';
import { environmentOf, startJobPods } from './copying.ts';
import { MortalPlace } from './mortal-place.ts';
import { namespace } from './old-side.ts';

const MEMBERS = ['old-0', 'old-1', 'old-2'];
/** It was removed, and its pod ends again and again. */
const REMOVED = 'old-3';
export const PEERS = [...MEMBERS, REMOVED];
export const OPERATOR = 'eco-controller-manager';
const NETWORK = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
const ipOf = (name: string): string => `${NETWORK}.${PEERS.indexOf(name) + 1}`;
const USER = 65_534;
const NOBODY = '127.0.0.1 localhost\n';
const WITHIN_MS = 240_000;
const WAKE_EVERY_MS = 300;

export class ImprobablePlace extends MortalPlace {
  readonly etcd: EtcdPlace;
  readonly #jobs: readonly JobPods[];
  readonly #copying: readonly RunningFunction[];
  readonly #roots: string[] = [];
  protected override readonly withinMs = WITHIN_MS;

  private constructor(
    etcd: EtcdPlace,
    jobs: readonly JobPods[],
    copying: readonly RunningFunction[],
  ) {
    super(etcd.kube, namespace);
    this.etcd = etcd;
    this.#jobs = jobs;
    this.#copying = copying;
  }

  static async start(): Promise<ImprobablePlace> {
    const etcd = await EtcdPlace.start({ controllers: ['job-controller'] });
    const { backups, restores } = await startJobPods(etcd, {});
    const copying = await Promise.all(
      [etcdBackup, etcdRestore].map(async (one) => {
        const environment = await environmentOf(etcd, one.name);
        const build = { version: '0.0.0', commit: '' };
        return startFunction(one as typeof etcdBackup, { environment, build });
      }),
    );
    const place = new ImprobablePlace(etcd, [backups, restores], copying);
    await Promise.all(MEMBERS.map((name) => place.#startMember(name)));
    await place.#leave();
    return place;
  }

  async #startMember(name: string): Promise<void> {
    const { plane } = this.etcd;
    const root = join(plane.dir, 'old', name);
    this.#roots.push(root);
    await mkdir(join(root, 'etc'), { recursive: true });
    await mkdir(join(root, 'data'), { recursive: true });
    await link(await resolvePart('etcd-3-3'), join(root, 'etcd'));
    const hosts = MEMBERS.map((one) => `${ipOf(one)} ${one}.old\n`).join('');
    await writeFile(join(root, 'etc/hosts'), `${NOBODY}${hosts}`);
    await giveTo(USER, join(root, 'data'));
    const url = `http://${ipOf(name)}:2379`;
    await plane.add({
      name,
      ...rooted(root, USER, [
        '/etcd',
        `--name=${name}`,
        '--data-dir=/data/member',
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=http://${name}.old:2379`,
        `--listen-peer-urls=http://${ipOf(name)}:2380`,
        `--initial-advertise-peer-urls=http://${name}.old:2380`,
        `--initial-cluster=${MEMBERS.map((one) => `${one}=http://${one}.old:2380`).join(',')}`,
        '--initial-cluster-state=new',
      ]),
      env: {},
      url,
      ready: async () => (await askLegacy({ url }, undefined, { timeoutMs: 2_000 })).isQuorate,
    });
  }

  /** As its operator leaves it, with the rights that a person grants to the functions. */
  async #leave(): Promise<void> {
    const { kube } = this;
    await this.etcd.namespace(namespace);
    const copying = [etcdBackupRights, etcdRestoreRights].flatMap((of) => of(namespace));
    const rights = [...copying, ...takeoverRights(namespace, [], undefined, ['old-2'])];
    await applyObjects(
      kube,
      rights.map((object) => ({ file: 'npm run rights', object })),
    );
    await defineLegacyKind(kube, IMPROBABLE_ETCDS, 'EtcdCluster', 'ietcd');
    await defineLegacyKind(kube, IMPROBABLE_PEERS, 'EtcdPeer', 'ipeer');
    const peers = PEERS.map((name) => {
      const finalizers = name === REMOVED ? [CLEANUP] : [];
      return { name, ip: ipOf(name), finalizers };
    });
    await leaveOnServer(kube, { namespace, name: 'old', peers, spec: { replicas: 3 } });
    const removed = await kube.get(IMPROBABLE_PEERS, { namespace, name: REMOVED });
    const uid = removed?.metadata.uid ?? '';
    await kube.delete(IMPROBABLE_PEERS, { namespace, name: REMOVED }, { uid });
    await leaveWebhook(kube, IMPROBABLE_PEERS);
    await startOperator(kube, namespace, OPERATOR);
  }

  /** As a person who is told so. */
  async deleteWebhook(): Promise<void> {
    const { resource, group } = IMPROBABLE_PEERS;
    const named = { name: `${resource}.${group}` };
    const found = await this.kube.get(WEBHOOKS, named);
    await this.kube.delete(WEBHOOKS, named, { uid: found?.metadata.uid ?? '' });
  }

  /** As DNS does once the Service leads elsewhere: no old member finds another by its name. */
  async forgetNames(): Promise<void> {
    await Promise.all(this.#roots.map((root) => writeFile(join(root, 'etc/hosts'), NOBODY)));
  }

  async stop(): Promise<void> {
    await this.stopTakeover();
    await Promise.all(this.#copying.map((one) => one.stop()));
    await Promise.all(this.#jobs.map((one) => one.stop()));
    await this.etcd.stop();
  }

  async confirm(name: string): Promise<string> {
    const spec = { storage: { medium: 'Volume', size: '10Gi' } };
    const into = { name: 'old-2', spec };
    await createTakeover(this.kube, { namespace, name }, { legacy: improbableOf('old'), into });
    return this.confirmPlan(name);
  }

  protected override kubeconfigOf(account: Named): Promise<string> {
    return this.etcd.kubeconfigOf(account);
  }

  protected override async wakeOthers(signal: AbortSignal): Promise<void> {
    const ports = [
      ...['etcd-cluster', 'etcd-peer'].map((one) => this.etcd.portOf(one)),
      ...this.#copying.map(({ port }) => port),
    ];
    const waking = ports.map(async (port) => {
      while (!signal.aborted) {
        await (await sendEvent(port, SWEEP, {})).text();
        await systemClock.sleep(WAKE_EVERY_MS);
      }
    });
    await Promise.all(waking);
  }

  async service() {
    const found = await this.kube.get(SERVICES, { namespace, name: 'old' });
    const { selector, clusterIP, publishNotReadyAddresses = false } = Object(found?.['spec']);
    const { ownerReferences: owners, resourceVersion, uid } = Object(found?.metadata);
    return { selector, clusterIP, publishNotReadyAddresses, owners, resourceVersion, uid };
  }

  get oldUrl(): string {
    return `http://${ipOf('old-0')}:2379`;
  }
}
