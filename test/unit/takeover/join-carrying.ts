// The world of a takeover in which members join, on a model of the API server: one etcd of old and
// new members, writers that never stop, the function that runs an EtcdCluster, and the garbage
// collector. It throws as soon as nobody takes a write, or a change is made that must not be.
import type { Access } from '../../../functions/takeover/access.ts';
import type { Door } from '../../../functions/takeover/door.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { JOINS_ANNOTATION, joinsIn } from '../../../shared/api/etcd-joins.ts';
import { Failure } from '../../../shared/errors.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { CLAIMS, PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import type { KubeModel } from '../stateful/kube-model.ts';
import { stateText } from '../stateful/passed.ts';
import { JoinEtcd, type Member } from './join-etcd.ts';
import { at, collectGarbage } from './others-at-work.ts';
import { objectIn, specIn, TakeoverRun } from './takeover-run.ts';
import { answerOf, begin, namespace, PODS_OF_OLD, putOperator, world } from './world.ts';

const TICK_MS = 2_000;
const isNew = (name: string): boolean => name.startsWith('new-');
const podOf = (name: string): string => (isNew(name) ? `${name}-0` : name);

export class JoinCarrying extends TakeoverRun<JoinCarrying> {
  readonly etcd: JoinEtcd;
  /** New members whose pods do not start. */
  held: (name: string) => boolean = () => false;
  /** Members throw where they would not talk with somebody. */
  meet: (access: Access) => void = () => undefined;
  /** Writers are told that they may have to wait. */
  mayStop = false;
  /** By member. */
  hashOf: (name: string) => number = () => 1;

  private constructor(kube: KubeModel, etcd: JoinEtcd) {
    super(kube);
    this.etcd = etcd;
  }

  protected get self(): JoinCarrying {
    return this;
  }

  /** A plan is confirmed, and nothing is done yet. */
  static async confirmed(start = () => begin({ spec: { mode: 'Join' } })): Promise<JoinCarrying> {
    start();
    putOperator(1);
    const run = new JoinCarrying(world.kube, new JoinEtcd());
    await run.confirm();
    return run;
  }

  another(): JoinCarrying {
    return new JoinCarrying(this.kube, this.etcd);
  }

  copy(): JoinCarrying {
    const copy = new JoinCarrying(this.kube.copy(), this.etcd.copy());
    copy.befalls = this.befalls;
    copy.held = this.held;
    copy.hashOf = this.hashOf;
    copy.meet = this.meet;
    return copy;
  }

  state(): string {
    return stateText(this.kube, [this.etcd.members, this.etcd.leaderId]);
  }

  tick(): void {
    this.befalls(this);
    collectGarbage(this.kube);
    this.#loseMembers();
    this.etcd.pass(TICK_MS);
    this.#runCluster();
    this.judge();
    this.onMoment();
  }

  /** One whose pod is gone is gone for good. */
  #loseMembers(): void {
    for (const one of this.etcd.members) {
      if (one.isStarted && !this.#hasPod(one.name)) one.isDead = true;
    }
  }

  #hasPod = (name: string): boolean => this.kube.objects.has(`pods/${namespace}/${podOf(name)}`);

  get cluster(): KubeObject | undefined {
    return objectIn(this, 'etcdclusters/new');
  }

  /** It starts a peer for whoever is in the list at an address of its own, one at a time. */
  #runCluster(): void {
    const { cluster } = this;
    if (cluster === undefined) return;
    const { annotations = {}, labels = {}, uid } = cluster.metadata;
    // One of somebody else joins nobody.
    if (labels['ballast.dev/takeover'] === undefined) return;
    const joins = joinsIn(annotations[JOINS_ANNOTATION] ?? '', namespace);
    if ('reason' in joins) throw new Error(joins.message);
    if (joins.map(({ name }) => name).join(' ') !== PODS_OF_OLD.join(' ')) {
      throw new Error('it is told of others than the old members');
    }
    const next = this.etcd.members.find(
      ({ name, isStarted }) => isNew(name) && !(isStarted && this.#hasPod(name)),
    );
    if (next !== undefined && !this.held(next.name)) this.#start(next, uid);
    const isAlone = this.etcd.members.every(({ name }) => isNew(name));
    const ready = isAlone
      ? { type: 'Ready', status: 'True', reason: 'Whole', message: 'It is.' }
      : { type: 'Ready', status: 'False', reason: 'Joining', message: 'Old members are there.' };
    const status = { clusterId: '7', conditions: [ready] };
    this.kube.change(ETCD_CLUSTERS, at('new'), { status });
  }

  #start(member: Member, uid: string): void {
    const { name } = member;
    const hasData = this.kube.objects.has(`persistentvolumeclaims/${namespace}/data-${name}`);
    if (member.isStarted && !hasData) throw new Error(`${name} starts again, on an empty volume`);
    member.isStarted = true;
    member.isDead = false;
    const owner = { apiVersion: 'ballast.dev/v1alpha1', kind: 'EtcdCluster', name: 'new', uid };
    const labels = { 'ballast.dev/etcd-cluster': 'new' };
    const own = { labels, ownerReferences: [owner] };
    const metadata = (one: string) => ({ ...at(one), ...own });
    this.kube.put(SERVICES, { apiVersion: 'v1', kind: 'Service', metadata: metadata('new') });
    this.kube.put(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: metadata(podOf(name)),
      status: { phase: 'Running', podIP: `10.0.1.${name.at(-1)}` },
    });
    const annotations = { 'ballast.dev/etcd-cluster-id': '7' };
    this.kube.put(CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { ...at(`data-${name}`), labels, ...(name === 'new-0' ? { annotations } : {}) },
    });
  }

  leadsToNew(): boolean {
    const { selector } = specIn(this, 'services/old-client');
    return Object.hasOwn(Object(selector), 'ballast.dev/etcd-cluster');
  }

  /** Writers are led by the Service, and write all the time. */
  protected judge(): void {
    const isLed = this.leadsToNew();
    const served = this.etcd.well().filter(({ name }) => isNew(name) === isLed);
    const isServed = this.etcd.isQuorate && served.length > 0;
    if (!isServed && !this.mayStop) throw new Error('nobody takes a write');
    if (this.etcd.members.filter(({ isStarted }) => !isStarted).length > 1) {
      throw new Error('two were added, and neither has started');
    }
    const hasOld = this.kube.objects.has(`etcdclusters/${namespace}/old`);
    const claims = ['old-b', 'old-c'].map((name) => `persistentvolumeclaims/${namespace}/${name}`);
    if (!hasOld && claims.some((key) => !this.kube.objects.has(key)))
      throw new Error('a claim went');
  }

  /** The member that is asked. */
  #memberAt(access: Access): Member {
    this.meet(access);
    const ip = new URL(access.endpoints[0]?.url ?? '').hostname;
    const pod = [...this.kube.of('pods').values()].find(
      (one) => Object(one['status']).podIP === ip,
    );
    const name = (pod?.metadata.name ?? '').replace(/^(new-\d)-0$/, '$1');
    const member = this.etcd.byName(name);
    if (member === undefined || !member.isStarted || member.isDead) {
      throw new Failure('ETCD_UNAVAILABLE', 'Silence.');
    }
    return member;
  }

  #removing(by: Member, id: string): () => void {
    const { switchingAt, rollingBackAt } = this.status.work ?? {};
    const leaving = this.etcd.members.find((one) => one.id === id);
    if (leaving !== undefined && !isNew(leaving.name)) {
      if (switchingAt === undefined) throw new Error('nobody has noted that nothing leads back');
      if (!isNew(by.name) || !this.leadsToNew()) throw new Error(`${leaving.name} left too early`);
    } else if (leaving !== undefined && (rollingBackAt === undefined || isNew(by.name))) {
      throw new Error(`${leaving.name} has to stay`);
    }
    const remove = this.etcd.removing(id);
    return () => {
      remove();
      const name = leaving?.name ?? '';
      // It ends by itself, and nobody starts it again.
      if (!isNew(name)) this.kube.change(PODS, at(name), { status: { phase: 'Succeeded' } });
    };
  }

  get ms(): number {
    return this.etcd.ms;
  }

  protected door(): Partial<Door> {
    const { etcd } = this;
    return {
      ask: async (endpoint, tls) => {
        await this.beforeAnswer();
        return this.#answer(this.#memberAt({ endpoints: [endpoint], tls }));
      },
      add: async (access, peerUrl) => {
        await this.beforeChange();
        const by = this.#memberAt(access);
        if (isNew(by.name)) throw new Error('a new member was asked to add one');
        await this.kube.write(`etcd add ${peerUrl}`, etcd.adding(peerUrl));
      },
      remove: async (access, id) => {
        const by = this.#memberAt(access);
        const name = etcd.members.find((one) => one.id === id)?.name ?? id;
        await this.kube.write(`etcd remove ${name}`, this.#removing(by, id));
      },
      moveLeader: async (access, id) => {
        const { name } = this.#memberAt(access);
        await this.kube.write('etcd move leader', etcd.movingLeader(name, id));
      },
      hashKv: async (access) => {
        const { name } = this.#memberAt(access);
        const { header } = answerOf(0).status;
        const hash = this.hashOf(name);
        return { header, hash, compactRevision: '0', hashRevision: undefined };
      },
    };
  }

  #answer({ id, isWell }: Member) {
    const { etcd } = this;
    const { header, ...status } = answerOf(0).status;
    const leaderId = etcd.isQuorate ? etcd.leaderId : undefined;
    const members = etcd.members.map(({ name, peerUrl, isStarted, ...one }) => ({
      id: one.id,
      name: isStarted ? name : '',
      peerUrls: [peerUrl],
      clientUrls: [],
      isLearner: false,
    }));
    return {
      ...answerOf(0),
      status: { ...status, leaderId, header: { ...header, memberId: id } },
      members,
      isQuorate: etcd.isQuorate && isWell,
    };
  }
}
