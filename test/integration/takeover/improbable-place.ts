// A place for takeovers from improbable's operator: a real etcd 3.3.27 of three members that know
// each other by names of the one Service alone, a peer of a fourth that was removed by an operator
// that died over it, and all functions, each with the rights of its own account.
import { randomInt } from 'node:crypto';
import { etcdBackup } from '../../../functions/etcd-backup/index.ts';
import { etcdRestore } from '../../../functions/etcd-restore/index.ts';
import { etcdBackupRights } from '../../../knative/tools/rights/etcd-backup.ts';
import { etcdRestoreRights } from '../../../knative/tools/rights/etcd-restore.ts';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { IMPROBABLE_ETCDS } from '../../../shared/api/takeover.ts';
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
import { OldEtcdMembers } from '../../builders/old-etcd-members.ts';
import type { JobPods } from '../etcd-backup/job-pods.ts';
import { EtcdPlace } from '../etcd-cluster/etcd-place.ts';
import type { Named } from '../etcd-cluster/etcd-scene.ts';
import { environmentOf, startJobPods } from './copying.ts';
import { keepSweeping } from './keep-sweeping.ts';
import { MortalPlace } from './mortal-place.ts';
import { namespace } from './old-side.ts';

const MEMBERS = ['old-0', 'old-1', 'old-2'];
/** It was removed, and its pod ends again and again. */
const REMOVED = 'old-3';
export const PEERS = [...MEMBERS, REMOVED];
export const OPERATOR = 'eco-controller-manager';
const NETWORK = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
const ipOf = (name: string): string => `${NETWORK}.${PEERS.indexOf(name) + 1}`;
const WITHIN_MS = 240_000;

export class ImprobablePlace extends MortalPlace {
  readonly etcd: EtcdPlace;
  readonly #jobs: readonly JobPods[];
  readonly #copying: readonly RunningFunction[];
  readonly #old = new OldEtcdMembers(
    MEMBERS.map((name) => ({ name, ip: ipOf(name), host: `${name}.old` })),
  );
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
    await place.#old.start(etcd.plane);
    await place.#leave();
    return place;
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
  forgetNames(): Promise<void> {
    return this.#old.tellHosts('127.0.0.1 localhost\n');
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

  protected override wakeOthers(signal: AbortSignal): Promise<void> {
    const ports = ['etcd-cluster', 'etcd-peer'].map((one) => this.etcd.portOf(one));
    return keepSweeping([...ports, ...this.#copying.map(({ port }) => port)], signal);
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
