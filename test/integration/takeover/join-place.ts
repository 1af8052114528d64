// A place for takeovers whose EtcdCluster the function makes itself: a real etcd 3.3.27 of three
// members as bare pods, which know each other by their names, and the functions, each with the
// rights of its own account. Members of the new cluster are processes as well, and both sides
// resolve the names of all.
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { type EtcdAdmin, openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import { askLegacy } from '../../../shared/etcd/legacy.ts';
import { PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import { defineLegacyEtcd, LegacyEtcd } from '../../builders/legacy-etcd.ts';
import { startOperator } from '../../builders/legacy-kind.ts';
import { OldEtcdMembers } from '../../builders/old-etcd-members.ts';
import { oldPods } from '../../builders/old-pods.ts';
import { EtcdPlace } from '../etcd-cluster/etcd-place.ts';
import type { Named } from '../etcd-cluster/etcd-scene.ts';
import { keepSweeping } from './keep-sweeping.ts';
import { MortalPlace } from './mortal-place.ts';
import { namespace } from './old-side.ts';

export const OLD = ['old-a', 'old-b', 'old-c'];
const MEMBERS = oldPods(OLD, `old.${namespace}.svc`);
/** Each change of members waits five seconds for the one before. */
const WITHIN_MS = 300_000;

export class JoinPlace extends MortalPlace {
  readonly etcd: EtcdPlace;
  readonly old: LegacyEtcd;
  protected override readonly withinMs = WITHIN_MS;

  private constructor(etcd: EtcdPlace) {
    super(etcd.kube, namespace);
    this.etcd = etcd;
    this.old = new LegacyEtcd(etcd.kube, namespace, 'old');
  }

  /** `into`: the names that a person grants. */
  static async start(into: readonly string[]): Promise<JoinPlace> {
    // So that those that join are sent a snapshot.
    const old = new OldEtcdMembers(MEMBERS, ['--snapshot-count=100']);
    const { hosts } = old;
    const etcd = await EtcdPlace.start({ hosts, tellHosts: (text) => old.tellHosts(text) });
    const place = new JoinPlace(etcd);
    await old.start(etcd.plane);
    await etcd.namespace(namespace);
    const rights = takeoverRights(namespace, [], undefined, into);
    await applyObjects(
      etcd.kube,
      rights.map((object) => ({ file: 'npm run rights', object })),
    );
    await defineLegacyEtcd(etcd.kube);
    const claimOf = (name: string) => (name === 'old-a' ? {} : { claim: name });
    await place.old.create(MEMBERS.map(({ name, ip }) => ({ name, ip, ...claimOf(name) })));
    await startOperator(etcd.kube, namespace, 'etcd-operator');
    return place;
  }

  async stop(): Promise<void> {
    await this.stopTakeover();
    await this.etcd.stop();
  }

  /** `how`: its mode, and what goes with that. */
  async confirm(name: string, into: string, how: object = { mode: 'Join' }): Promise<string> {
    const spec = { storage: { medium: 'Volume', size: '10Gi' } };
    await this.old.takeOver(name, { ...how, into: { name: into, spec } });
    return this.confirmPlan(name);
  }

  /** No member answers any more. */
  async killOld(): Promise<void> {
    await Promise.all(OLD.map((name) => this.etcd.plane.part(name).kill()));
  }

  protected override kubeconfigOf(account: Named): Promise<string> {
    return this.etcd.kubeconfigOf(account);
  }

  protected override wakeOthers(signal: AbortSignal): Promise<void> {
    const ports = ['etcd-cluster', 'etcd-peer'].map((one) => this.etcd.portOf(one));
    return keepSweeping(ports, signal);
  }

  async service() {
    const found = await this.kube.get(SERVICES, { namespace, name: 'old-client' });
    const { selector } = Object(found?.['spec']) as {
      readonly selector: Readonly<Record<string, string>>;
    };
    return { selector, owners: found?.metadata.ownerReferences };
  }

  /** As kube-proxy leads new connections. */
  async opened(): Promise<() => EtcdAdmin> {
    const { selector } = await this.service();
    const labelSelector = Object.entries(selector)
      .map((pair) => pair.join('='))
      .join(',');
    const { items } = await this.kube.list(PODS, { namespace, labelSelector });
    const endpoints = items.map(({ status }) => `http://${String(Object(status).podIP)}:2379`);
    return () => openEtcdAdmin({ endpoints });
  }

  /** The members in the list, as this one of the old or new ones tells them. */
  async members(url: string): Promise<readonly string[]> {
    const { members } = await askLegacy({ url }, undefined, { timeoutMs: 3_000 });
    return members.map(({ name }) => name).toSorted();
  }

  get oldUrl(): string {
    return `http://${MEMBERS[0]?.ip}:2379`;
  }
}
