// A place for takeovers from improbable's operator: a real etcd 3.3.27 of three members that know
// each other by names of the one Service alone, a peer of a fourth that was removed by an operator
// that died over it, and all functions, each with the rights of its own account.
import { etcdBackupRights } from '../../../knative/tools/rights/etcd-backup.ts';
import { etcdRestoreRights } from '../../../knative/tools/rights/etcd-restore.ts';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { IMPROBABLE_ETCDS } from '../../../shared/api/takeover.ts';
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
import { oldPods } from '../../builders/old-pods.ts';
import { EtcdPlace } from '../etcd-cluster/etcd-place.ts';
import type { Named } from '../etcd-cluster/etcd-scene.ts';
import { Copying } from './copying.ts';
import { keepSweeping } from './keep-sweeping.ts';
import { MortalPlace } from './mortal-place.ts';
import { namespace } from './old-side.ts';

/** It was removed, and its pod ends again and again. */
const REMOVED = 'old-3';
export const PEERS = ['old-0', 'old-1', 'old-2', REMOVED];
export const OPERATOR = 'eco-controller-manager';
const PODS = oldPods(PEERS, 'old');
const WITHIN_MS = 240_000;

export class ImprobablePlace extends MortalPlace {
  readonly etcd: EtcdPlace;
  readonly #copying: Copying;
  readonly #old = new OldEtcdMembers(PODS.filter(({ name }) => name !== REMOVED));
  protected override readonly withinMs = WITHIN_MS;

  private constructor(etcd: EtcdPlace, copying: Copying) {
    super(etcd.kube, namespace);
    this.etcd = etcd;
    this.#copying = copying;
  }

  static async start(): Promise<ImprobablePlace> {
    const etcd = await EtcdPlace.start({ controllers: ['job-controller'] });
    const place = new ImprobablePlace(etcd, await Copying.start(etcd));
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
    const peers = PODS.map(({ name, ip }) => {
      return { name, ip, finalizers: name === REMOVED ? [CLEANUP] : [] };
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
    await this.#copying.stop();
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
    return keepSweeping([...ports, ...this.#copying.ports], signal);
  }

  async service() {
    const found = await this.kube.get(SERVICES, { namespace, name: 'old' });
    const { selector, clusterIP, publishNotReadyAddresses = false } = Object(found?.['spec']);
    const { ownerReferences: owners, resourceVersion, uid } = Object(found?.metadata);
    return { selector, clusterIP, publishNotReadyAddresses, owners, resourceVersion, uid };
  }

  get oldUrl(): string {
    return `http://${PODS[0]?.ip}:2379`;
  }
}
