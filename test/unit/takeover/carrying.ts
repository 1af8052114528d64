// The world of a takeover that is carried out, on a model of the API server: an old etcd with its
// alarm, writers of which one never lets go of its connection, the functions that take and restore
// snapshots, and the garbage collector. It throws as soon as a write that was acknowledged is lost.
import { pino } from 'pino';
import { Deps } from '../../../functions/takeover/deps.ts';
import { reconciler } from '../../../functions/takeover/reconciler.ts';
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { ETCD_RESTORES } from '../../../shared/api/etcd-restore.ts';
import { TAKEOVERS, type TakeoverStatus } from '../../../shared/api/takeover.ts';
import type { EtcdAlarm } from '../../../shared/etcd/admin/alarms.ts';
import type { KeyHead } from '../../../shared/etcd/admin/keys.ts';
import type { Context } from '../../../shared/function/define.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import { CLAIMS, PODS } from '../../../shared/stateful/parts.ts';
import type { KubeModel } from '../stateful/kube-model.ts';
import { type PassingRun, stateText } from '../stateful/passed.ts';
import { answerOf, begin, DEPLOYMENTS, namespace, NOW_MS, putOperator, world } from './world.ts';

const NEW_IP = '10.0.1.1';
const FIRST_REVISION = 9;
const SWEEPS_MAX = 200;
/** As an EtcdBackup tells the id of the old cluster. */
const OLD_ID = '7';

interface Etcds {
  /** By key, the revision that wrote it. */
  readonly old: Map<string, number>;
  readonly now: Map<string, number>;
  revision: number;
  alarms: readonly EtcdAlarm[];
  /** Keys whose write was acknowledged. */
  readonly acknowledged: Set<string>;
  ms: number;
  /** Writes so far. */
  count: number;
}

const newEtcds = (): Etcds => ({
  old: new Map([['a', FIRST_REVISION - 1], ['b', FIRST_REVISION]]),
  now: new Map(),
  revision: FIRST_REVISION,
  alarms: [],
  acknowledged: new Set(['a', 'b']),
  ms: NOW_MS,
  count: 0,
});

const at = (name: string) => ({ namespace, name });

export class Carrying implements PassingRun {
  onMoment: () => void = () => undefined;
  readonly kube: KubeModel;
  readonly etcds: Etcds;
  /** Called in each moment, and after each write. */
  befalls: (run: Carrying) => void = () => undefined;
  #onWrite: () => void = () => undefined;
  #isWritten = false;
  isSnapshotHeld = false;
  #deps: Deps;

  private constructor(kube: KubeModel, etcds: Etcds) {
    this.kube = kube;
    this.etcds = etcds;
    this.#deps = this.#makeDeps();
    kube.aroundWrite = () => {
      if (this.#isWritten) this.befalls(this);
      this.#isWritten = !this.#isWritten;
      this.#onWrite();
    };
  }

  /** A plan is confirmed, and nothing is done yet. */
  static async confirmed(): Promise<Carrying> {
    begin();
    putOperator(1);
    const run = new Carrying(world.kube, newEtcds());
    await run.sweep();
    run.edit({ confirm: run.status.plan?.id });
    return run;
  }

  /** Another one in the same state, with nothing in memory. */
  copy(): Carrying {
    const { old, now, acknowledged, ...rest } = this.etcds;
    const sets = { old: new Map(old), now: new Map(now), acknowledged: new Set(acknowledged) };
    const copy = new Carrying(this.kube.copy(), { ...rest, ...sets });
    copy.befalls = this.befalls;
    copy.isSnapshotHeld = this.isSnapshotHeld;
    return copy;
  }

  get writes(): readonly string[] {
    return this.kube.writes;
  }

  state(): string {
    const { old, now, acknowledged, revision, alarms } = this.etcds;
    return stateText(this.kube, [[...old], [...now], [...acknowledged], revision, alarms]);
  }

  edit(spec: object): void {
    this.kube.change(TAKEOVERS, at('over'), { spec });
  }

  get status(): TakeoverStatus {
    return this.kube.objects.get(`takeovers/${namespace}/over`)?.['status'] ?? {};
  }

  condition(type = 'Degraded'): string {
    const found = this.status.conditions?.find((one) => one.type === type);
    return `${found?.status} ${found?.reason}`;
  }

  /** Whether it is over, after so many sweeps at most. */
  async converge(sweeps = SWEEPS_MAX): Promise<boolean> {
    for (let count = 0; count < sweeps; count += 1) {
      await this.sweep();
      this.tick();
      if (this.status.work?.endedAt !== undefined) return true;
    }
    return false;
  }

  /** The same, and each state in which the process may have died on the way. */
  async deathsIn(work: () => Promise<unknown>): Promise<readonly Carrying[]> {
    const left: Carrying[] = [];
    this.#onWrite = () => left.push(this.copy());
    await work();
    this.#onWrite = () => undefined;
    return left;
  }

  async sweep(): Promise<void> {
    const context = {
      deps: this.#deps,
      log: pino({ level: 'silent' }),
      signal: new AbortController().signal,
    };
    try {
      await reconciler.sweepAll(context as unknown as Context<Deps>);
    } catch (error) {
      // With old reads somebody else was first; the next sweep looks again.
      if (!isKubeError(error)) throw error;
    }
    this.#judge();
  }

  /** All others do what they do, and writers write. */
  tick(): void {
    this.etcds.ms += 2_000;
    this.befalls(this);
    this.#backup();
    this.#restore();
    this.#collect();
    this.#write('held', true);
    this.#write('led', this.#leadsToOld());
    this.#judge();
    this.onMoment();
  }

  #leadsToOld(): boolean {
    const service = this.kube.objects.get(`services/${namespace}/old-client`);
    const selector = Object(Object(service?.['spec']).selector);
    return service !== undefined && selector['etcd_cluster'] === 'old';
  }

  #write(who: string, isToOld: boolean): void {
    this.etcds.count += 1;
    const key = `${who}/${this.etcds.count}`;
    if (!isToOld) {
      this.etcds.now.set(key, this.etcds.revision + 1_000 + this.etcds.count);
      this.etcds.acknowledged.add(key);
    } else if (this.etcds.alarms.length === 0 && this.#hasPods()) this.force(key);
  }

  /** Written to the old cluster, whoever has ended the alarm. */
  force(key: string): void {
    this.etcds.revision += 1;
    this.etcds.old.set(key, this.etcds.revision);
    this.etcds.acknowledged.add(key);
  }

  #hasPods(): boolean {
    return this.kube.objects.has(`pods/${namespace}/old-a`);
  }

  /** A write that was acknowledged is where clients look for it, or the old cluster is there. */
  #judge(): void {
    const hasOld = this.kube.objects.has(`etcdclusters/${namespace}/old`) && this.#hasPods();
    const { acknowledged, old, now } = this.etcds;
    const isLed = !this.#leadsToOld();
    for (const key of acknowledged) {
      if (!hasOld && !now.has(key)) throw new Error(`${key} is lost`);
      if (isLed && old.has(key) && !now.has(key) && this.etcds.alarms.length > 0) {
        throw new Error(`clients are led to where ${key} is not`);
      }
    }
    if (hasOld) return;
    for (const name of ['old-b', 'old-c']) {
      if (!this.kube.objects.has(`persistentvolumeclaims/${namespace}/${name}`)) {
        throw new Error(`claim ${name} is gone`);
      }
    }
  }

  /** As etcd-backup does, of what is there now. */
  #backup(): void {
    for (const object of this.kube.of('etcdbackups').values()) {
      if (object['status'] !== undefined || this.isSnapshotHeld) continue;
      if (!this.kube.objects.has(`persistentvolumeclaims/${namespace}/${object.metadata.name}`)) continue;
      const keys = [...this.etcds.old];
      const backup = { revision: String(this.etcds.revision), keys: keys.length, clusterId: OLD_ID };
      this.kube.put(ETCD_BACKUPS, { ...object, status: { phase: 'Complete', backup, keys } });
      return;
    }
  }

  /** As etcd-restore, etcd-cluster and etcd-peer do together. */
  #restore(): void {
    for (const object of this.kube.of('etcdrestores').values()) {
      const { name, uid } = object.metadata;
      const status = Object(object['status']) as { phase?: string; clusterId?: string };
      const backup = this.kube.objects.get(`etcdbackups/${namespace}/${name}`);
      if (status.clusterId === undefined) {
        this.kube.put(ETCD_RESTORES, { ...object, status: { phase: 'Running', clusterId: uid } });
      } else if (!this.kube.objects.has(`etcdclusters/${namespace}/new`)) {
        this.etcds.now.clear();
        for (const [key, revision] of Object(backup?.['status']).keys) this.etcds.now.set(key, revision);
        this.#makeCluster(name, uid);
      } else if (status.phase !== 'Complete') {
        this.kube.put(ETCD_RESTORES, { ...object, status: { ...status, phase: 'Complete' } });
      }
      return;
    }
  }

  #makeCluster(restore: string, clusterId: string): void {
    const apiVersion = 'ballast.dev/v1alpha1';
    const labels = { 'ballast.dev/etcd-restore': restore };
    const annotations = { 'ballast.dev/etcd-cluster-id': clusterId };
    const own = { 'ballast.dev/etcd-cluster': 'new' };
    const ready = { type: 'Ready', status: 'True', reason: 'Whole', message: 'It is.' };
    const { metadata } = this.kube.put(ETCD_CLUSTERS, {
      apiVersion,
      kind: 'EtcdCluster',
      metadata: { ...at('new'), labels, annotations },
      status: { clusterId, conditions: [ready] },
    });
    const ownerReferences = [{ apiVersion, kind: 'EtcdCluster', name: 'new', uid: metadata.uid }];
    this.kube.put(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...at('new-0-0'), labels: own, ownerReferences },
      status: { phase: 'Running', podIP: NEW_IP },
    });
    this.kube.put(CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { ...at('data-new-0'), labels: own, annotations },
    });
  }

  /** What belongs to nobody any more goes. */
  #collect(): void {
    const there = new Set([...this.kube.objects.values()].map(({ metadata }) => metadata.uid));
    for (const [key, { metadata }] of this.kube.objects) {
      const owners = metadata.ownerReferences ?? [];
      if (owners.length === 0 || owners.some(({ uid }) => there.has(uid))) continue;
      this.kube.remove(refOf(key), at(metadata.name));
    }
  }

  #makeDeps(): Deps {
    const clock = {
      nowMs: () => this.etcds.ms,
      sleep: async (): Promise<void> => this.tick(),
    };
    return new Deps(
      {
        kube: this.kube.client,
        clock,
        workMs: 10_000,
        lease: { namespace: 'ballast-system', name: 'l', sweepSeconds: 60, isForObjects: true },
      },
      {
        ask: async ({ url }) => {
          const header = { clusterId: OLD_ID, memberId: '0', revision: '', raftTerm: 2 };
          const place = Number(new URL(url).hostname.split('.')[3]) - 'a'.charCodeAt(0);
          const revision = String(this.etcds.revision);
          const memberId = String(100 + place);
          return answerOf(place, { header: { ...header, memberId, revision } });
        },
        alarms: async () => this.etcds.alarms,
        raise: (_, memberId) =>
          this.kube.write('etcd raise', () => {
            this.etcds.alarms = [{ memberId, type: 'CORRUPT' }];
          }),
        disarm: (_, memberId) =>
          this.kube.write('etcd disarm', () => {
            this.etcds.alarms = this.etcds.alarms.filter((one) => one.memberId !== memberId);
          }),
        heads: async ([url = '']) => {
          const isNew = new URL(url).hostname === NEW_IP;
          return headsOf(isNew ? this.etcds.now : this.etcds.old);
        },
      },
    );
  }
}

const refOf = (key: string): ResourceRef => ({
  group: '',
  version: '',
  resource: key.slice(0, key.indexOf('/')),
});

const headsOf = (keys: ReadonlyMap<string, number>): readonly KeyHead[] =>
  [...keys]
    .map(([key, revision]) => ({
      key: Buffer.from(key),
      createRevision: String(revision),
      modRevision: String(revision),
      version: '1',
      lease: '0',
    }))
    .toSorted((one, other) => one.key.compare(other.key));

export const replicasOf = ({ kube }: Carrying): number =>
  Number(Object(kube.objects.get(`${DEPLOYMENTS.resource}/${namespace}/etcd-operator`)?.['spec']).replicas);

export const namesOf = ({ kube }: Carrying, resource: string): readonly string[] =>
  [...kube.of(resource).values()].map(({ metadata }: KubeObject) => metadata.name).toSorted();
