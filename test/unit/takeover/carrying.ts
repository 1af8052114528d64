// The world of a takeover that is carried out, on a model of the API server: an old etcd with its
// alarm, writers of which one never lets go of its connection, the functions that take and restore
// snapshots, and the garbage collector. It throws as soon as a write that was acknowledged is lost.
import type { Access } from '../../../functions/takeover/access.ts';
import type { Door } from '../../../functions/takeover/door.ts';
import { Failure } from '../../../shared/errors.ts';
import type { EtcdAlarm } from '../../../shared/etcd/admin/alarms.ts';
import type { KeyHead } from '../../../shared/etcd/admin/keys.ts';
import type { KubeModel } from '../stateful/kube-model.ts';
import { stateText } from '../stateful/passed.ts';
import { collectGarbage, NEW_IP, OLD_ID, restore, takeBackups } from './others-at-work.ts';
import { specIn, TakeoverRun } from './takeover-run.ts';
import {
  answerOf,
  begin,
  namespace,
  NOW_MS,
  placeOf,
  PODS_OF_OLD,
  putOperator,
  world,
} from './world.ts';

const FIRST_REVISION = 9;

export interface Etcds {
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

/** The old etcd as its operator left it. */
export interface OldEtcd {
  /** That of the clients, and whom it leads to. */
  readonly service: string;
  readonly selector: Readonly<Record<string, string>>;
  readonly pods: readonly string[];
  /** They stay, whatever goes. */
  readonly claims: readonly string[];
  readonly steps: readonly string[];
  readonly begin: () => void;
  /** That of its operator. */
  readonly image: string;
}

/** The steps before the one with which nothing leads back any more. */
export const COPYING = ['StopOperator', 'FreezeWriters', 'Snapshot', 'MakeCluster', 'Compare'];

export const COREOS: OldEtcd = {
  service: 'old-client',
  selector: { app: 'etcd', etcd_cluster: 'old' },
  pods: PODS_OF_OLD,
  claims: ['old-b', 'old-c'],
  steps: [...COPYING, 'SwitchService', 'OrphanClaims', 'DeleteLegacy'],
  begin,
  image: 'quay.io/coreos/etcd-operator:v0.9.4',
};

const newEtcds = (): Etcds => ({
  old: new Map([
    ['a', FIRST_REVISION - 1],
    ['b', FIRST_REVISION],
  ]),
  now: new Map(),
  revision: FIRST_REVISION,
  alarms: [],
  acknowledged: new Set(['a', 'b']),
  ms: NOW_MS,
  count: 0,
});

export class Carrying extends TakeoverRun<Carrying> {
  readonly old: OldEtcd;
  readonly etcds: Etcds;
  isSnapshotHeld = false;
  isQuorate = true;
  /** Pods that are cut off from the others, with the alarms that they know of. */
  cutOff: ReadonlyMap<string, readonly EtcdAlarm[]> = new Map();
  /** Members throw where they would not talk with somebody. */
  meet: (access: Access) => void = () => undefined;

  private constructor(kube: KubeModel, old: OldEtcd, etcds: Etcds) {
    super(kube);
    this.old = old;
    this.etcds = etcds;
  }

  protected get self(): Carrying {
    return this;
  }

  /** A plan is confirmed, and nothing is done yet. */
  static async confirmed(old: OldEtcd = COREOS): Promise<Carrying> {
    old.begin();
    putOperator(1, { image: old.image });
    const run = new Carrying(world.kube, old, newEtcds());
    await run.confirm();
    return run;
  }

  another(): Carrying {
    return new Carrying(this.kube, this.old, this.etcds);
  }

  copy(): Carrying {
    const { old, now, acknowledged, ...rest } = this.etcds;
    const sets = { old: new Map(old), now: new Map(now), acknowledged: new Set(acknowledged) };
    const copy = new Carrying(this.kube.copy(), this.old, { ...rest, ...sets });
    copy.befalls = this.befalls;
    copy.isSnapshotHeld = this.isSnapshotHeld;
    copy.isQuorate = this.isQuorate;
    copy.cutOff = this.cutOff;
    copy.meet = this.meet;
    return copy;
  }

  state(): string {
    const { old, now, acknowledged, revision, alarms } = this.etcds;
    return stateText(this.kube, [[...old], [...now], [...acknowledged], revision, alarms]);
  }

  /** All others do what they do, and writers write. */
  tick(): void {
    this.etcds.ms += 2_000;
    this.befalls(this);
    if (!this.isSnapshotHeld) takeBackups(this);
    restore(this);
    collectGarbage(this.kube);
    this.#write('held', true);
    this.#write('led', this.#leadsToOld());
    this.judge();
    this.onMoment();
  }

  /** Whom the Service of the clients leads to; undefined once it is gone. */
  get led(): object | undefined {
    return specIn(this, `services/${this.old.service}`).selector;
  }

  #leadsToOld(): boolean {
    const led: Readonly<Record<string, unknown>> = { ...this.led };
    return Object.entries(this.old.selector).every(([label, value]) => led[label] === value);
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

  #cutOff = (url = ''): readonly EtcdAlarm[] | undefined =>
    this.cutOff.get(this.old.pods[placeOf(url)] ?? '');

  #hasPods(): boolean {
    return this.kube.objects.has(`pods/${namespace}/${this.old.pods[0]}`);
  }

  /** A write that was acknowledged is where clients look for it, or the old cluster is there. */
  protected judge(): void {
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
    for (const name of this.old.claims) {
      if (!this.kube.objects.has(`persistentvolumeclaims/${namespace}/${name}`)) {
        throw new Error(`claim ${name} is gone`);
      }
    }
  }

  get ms(): number {
    return this.etcds.ms;
  }

  protected door(): Partial<Door> {
    return {
      ask: async (endpoint, tls) => {
        await this.beforeAnswer();
        this.meet({ endpoints: [endpoint], tls });
        const { url } = endpoint;
        const header = { clusterId: OLD_ID, memberId: '0', revision: '', raftTerm: 2 };
        const place = placeOf(url);
        const revision = String(this.etcds.revision);
        const memberId = String(100 + place);
        const answer = answerOf(place, { header: { ...header, memberId, revision } });
        return { ...answer, isQuorate: this.isQuorate && this.#cutOff(url) === undefined };
      },
      alarms: async (access) => {
        this.meet(access);
        return this.#cutOff(access.endpoints[0]?.url) ?? this.etcds.alarms;
      },
      raise: async (access, memberId) => {
        await this.beforeChange();
        this.meet(access);
        await this.kube.write('etcd raise', () => {
          this.etcds.alarms = [{ memberId, type: 'CORRUPT' }];
        });
      },
      disarm: async (access, memberId) => {
        this.meet(access);
        if (this.#cutOff(access.endpoints[0]?.url) !== undefined) {
          throw new Failure('ETCD_UNAVAILABLE', 'It has no leader.');
        }
        await this.kube.write('etcd disarm', () => {
          this.etcds.alarms = this.etcds.alarms.filter((one) => one.memberId !== memberId);
        });
      },
      heads: async (access) => {
        this.meet(access);
        const [{ url } = { url: '' }] = access.endpoints;
        const isNew = new URL(url).hostname === NEW_IP;
        return headsOf(isNew ? this.etcds.now : this.etcds.old);
      },
    };
  }
}

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
