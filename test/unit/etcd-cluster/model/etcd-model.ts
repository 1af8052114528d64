// An etcd as far as its functions can tell one from real ones, and the StatefulSet controller and
// kubelet around it. It holds the rules that must never be broken, and throws where one is.
import { ETCD_PEERS } from '../../../../shared/api/etcd-peer.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import { CLAIMS, PODS } from '../../../../shared/stateful/parts.ts';
import { KubeModel } from '../../stateful/kube-model.ts';
import { stateText } from '../../stateful/passed.ts';
import { CATCH_UP_TICKS, endedAgain, ready } from './pod-times.ts';
import { SpokenVersion } from './spoken-version.ts';
import { containerOf, goOnAlone } from './alone.ts';
import { isLabelled } from './labels.ts';
import { type Bootstrap, bootstrapIn, findsCluster, judgeLearners } from './bootstrap.ts';
import { AuthModel } from './auth-model.ts';
import { argsOf, endAgain, forgetPods, isInMemory, placeOf } from './memory.ts';
import { judgeRebirth, judgeRejoin } from './memory.ts';
import type { MemberModel, DataModel, ProcessModel, RecordModel } from './shapes.ts';
import { EMPTY, joined, judgeRemoval, tickUpkeep, type UpkeepModel } from './upkeep-model.ts';

export const NAMESPACE = 'shop';
export const NAME = 'etcd';

export class EtcdModel {
  readonly kube: KubeModel;
  readonly members = new Map<string, MemberModel>();
  /** By the uid of the claim. */
  readonly data = new Map<string, DataModel>();
  /** By the name of the pod. */
  readonly processes = new Map<string, ProcessModel>();
  upkeep: UpkeepModel = { alarms: [], revision: 10, compactRevision: 1 };
  auth = new AuthModel();
  clusterId: string | undefined;
  leaderId: string | undefined;
  spoken = new SpokenVersion();
  /** How often a member was forced to go on alone. */
  forced = 0;
  nowMs = Date.parse('2026-01-02T00:00:00Z');
  #ids = 1_000;

  constructor(kube = new KubeModel()) {
    this.kube = kube;
    kube.lingers = (resource) => resource === 'pods' || resource === 'etcdpeers';
    kube.onDelete = (resource, object) => this.#judge(resource, object);
  }

  /** Another one in the same state; what a test has asked of this one is not asked of it. */
  copy(): EtcdModel {
    const copy = new EtcdModel(this.kube.copy());
    for (const [id, member] of this.members) copy.members.set(id, { ...member });
    for (const [uid, data] of this.data) copy.data.set(uid, { ...data });
    for (const [pod, process] of this.processes) copy.processes.set(pod, process);
    copy.auth = this.auth.copy();
    copy.clusterId = this.clusterId;
    copy.leaderId = this.leaderId;
    copy.spoken = this.spoken.copy();
    copy.forced = this.forced;
    copy.upkeep = this.upkeep;
    copy.nowMs = this.nowMs;
    copy.#ids = this.#ids;
    return copy;
  }

  /** In words, but for the time. */
  state(): string {
    const { kube, members, data, processes, auth, upkeep, clusterId, leaderId, forced } = this;
    const { minor, agreedFor } = this.spoken;
    return stateText(kube, [
      [[...members.values()], [...data], [...processes]],
      [auth.isEnabled, [...auth.users], [...auth.roles], [...auth.foreign]],
      [upkeep, minor, agreedFor, clusterId, leaderId, forced],
    ]);
  }

  /** One moment: every controller and member gets a little further. */
  tick(): void {
    this.nowMs += 1_000;
    this.#runPeers();
    this.#runStatefulSets();
    this.#runPods();
    this.#runLearners();
    this.#elect();
    const versions = [...this.processes.values()].map(({ version }) => version);
    this.spoken.tick(versions, this.members.size);
    tickUpkeep(this);
  }

  objects(resource: string): readonly KubeObject[] {
    return [...this.kube.of(resource).values()];
  }

  status(): Record<string, RecordModel | undefined> {
    const cluster = this.kube.objects.get(`etcdclusters/${NAMESPACE}/${NAME}`);
    return (cluster?.['status'] ?? {}) as Record<string, RecordModel | undefined>;
  }

  get voters(): readonly MemberModel[] {
    return [...this.members.values()].filter(({ isLearner }) => !isLearner);
  }

  isRunning(memberId: string): boolean {
    return [...this.processes.values()].some((one) => one.memberId === memberId);
  }

  hasQuorum(): boolean {
    const running = this.voters.filter(({ id }) => this.isRunning(id));
    return this.voters.length > 0 && running.length > this.voters.length / 2;
  }

  addLearner(peerUrl: string): string {
    judgeLearners(this.objects('pods'), [...this.members.values()]);
    const id = this.#nextId();
    this.members.set(id, { id, peerUrl, name: '', isLearner: true });
    return id;
  }

  promote(id: string): void {
    const member = this.members.get(id);
    if (member === undefined) throw new Error(`member ${id} is not found`);
    const data = [...this.data.values()].find((one) => one.memberId === id);
    if (data === undefined || data.behind > 0) throw new Error(`${id} voted before it could`);
    member.isLearner = false;
  }

  /** The rule that matters most: those who stay have a quorum without the one that goes. */
  removeMember(id: string): void {
    const member = this.members.get(id);
    if (member === undefined) return;
    const rest = this.voters.filter((one) => one.id !== id);
    const running = rest.filter((one) => this.isRunning(one.id));
    if (!member.isLearner && running.length * 2 <= this.voters.length - 1) {
      throw new Error(`${member.name} was removed, and no quorum was left`);
    }
    if (this.leaderId === id) throw new Error(`${member.name} was removed while it led`);
    judgeRemoval(this, member);
    this.members.delete(id);
  }

  /** A deleted peer is gone when nothing holds it any more. */
  #runPeers(): void {
    for (const { metadata } of this.objects('etcdpeers')) {
      const { name, deletionTimestamp } = metadata;
      const { finalizers = [] } = metadata as { readonly finalizers?: readonly string[] };
      if (deletionTimestamp === undefined || finalizers.length > 0) continue;
      this.kube.remove(ETCD_PEERS, { namespace: NAMESPACE, name });
    }
  }

  /** Somebody deletes the pods with all claims. */
  removeClaims(): void {
    for (const { metadata } of this.objects('persistentvolumeclaims')) {
      this.data.delete(metadata.uid);
      this.kube.remove(CLAIMS, { namespace: NAMESPACE, name: metadata.name });
    }
    for (const pod of this.objects('pods')) this.#end(pod);
  }

  #nextId(): string {
    this.#ids += 1;
    return String(this.#ids);
  }

  /** Throws when a function destroys what it must not destroy now. */
  #judge(resource: string, { metadata }: KubeObject): void {
    const { name, uid } = metadata;
    const { restarting, recovering, leaving, clusterId } = this.status();
    if (resource === 'pods') {
      const isLearner = this.members.get(this.processes.get(name)?.memberId ?? '')?.isLearner;
      if (clusterId === undefined || recovering?.podUid === uid || isLearner === true) return;
      if (restarting?.podUid !== uid) throw new Error(`pod ${name} was deleted without a record`);
      const own = this.processes.get(name)?.memberId;
      const others = this.voters.filter(({ id }) => id !== own);
      const away = others.filter(({ id }) => !this.isRunning(id));
      if (away.length > 0) throw new Error(`${name} was deleted while ${away[0]?.name} was away`);
    }
    if (resource === 'persistentvolumeclaims') {
      if (leaving?.claimUid !== uid) throw new Error(`claim ${name} was deleted without a record`);
      const { memberId = '' } = this.data.get(uid) ?? {};
      if (this.members.has(memberId)) throw new Error(`claim ${name} of a member was deleted`);
      this.data.delete(uid);
    }
  }

  #runStatefulSets(): void {
    const sets = this.objects('statefulsets');
    for (const { metadata, spec } of sets) {
      const { replicas, template } = spec as {
        readonly replicas: number;
        readonly template: { readonly metadata: object; readonly spec: object };
      };
      const at = { namespace: NAMESPACE, name: `${metadata.name}-0` };
      const pod = this.kube.objects.get(`pods/${NAMESPACE}/${at.name}`);
      if (replicas === 0 && pod !== undefined && isLabelled(pod)) this.#end(pod);
      if (replicas === 0 || pod !== undefined) continue;
      this.kube.put(PODS, {
        apiVersion: 'v1',
        kind: 'Pod',
        ...template,
        metadata: {
          ...template.metadata,
          ...at,
          ownerReferences: [{ kind: 'StatefulSet', name: metadata.name }],
        },
      });
    }
    const owners = new Set(sets.map(({ metadata }) => `${metadata.name}-0`));
    for (const pod of this.objects('pods')) {
      if (!owners.has(pod.metadata.name) && isLabelled(pod)) this.#end(pod);
    }
  }

  #end({ metadata: { name, deletionTimestamp } }: KubeObject): void {
    if (deletionTimestamp !== undefined) return;
    const metadata = { deletionTimestamp: new Date(this.nowMs).toISOString() };
    this.kube.change(PODS, { namespace: NAMESPACE, name }, { metadata });
  }

  #runPods(): void {
    forgetPods(this);
    for (const claim of this.objects('persistentvolumeclaims')) {
      const at = { namespace: NAMESPACE, name: claim.metadata.name };
      const { phase } = (claim['status'] ?? {}) as { readonly phase?: string };
      if (phase === undefined) this.kube.change(CLAIMS, at, { status: { phase: 'Bound' } });
    }
    for (const pod of this.objects('pods')) {
      const { name, deletionTimestamp } = pod.metadata;
      if (deletionTimestamp !== undefined) {
        this.processes.delete(name);
        this.kube.remove(PODS, { namespace: NAMESPACE, name });
      } else if (!this.processes.has(name)) this.#start(pod);
    }
  }

  #start(pod: KubeObject): void {
    const { name } = pod.metadata;
    const at = { namespace: NAMESPACE, name };
    const peer = name.replace(/-0$/, '');
    const uid = placeOf(this, pod);
    const args = argsOf(this, pod);
    if (uid === undefined || args === undefined) return;
    const data = this.data.get(uid) ?? this.#firstStart(peer, uid, bootstrapIn(args));
    const member = data && this.members.get(data.memberId);
    if (data?.isUnfit === true) return void this.kube.change(PODS, at, endedAgain(pod));
    if (data === undefined) return endAgain(this, pod);
    if (member === undefined) return;
    const version = /:v(.*)$/.exec(containerOf(pod).image)?.[1] ?? '';
    const { memberId, clusterId } = data;
    // One in memory comes in place of another one, with the version that this one would get.
    this.spoken.judge(peer, version, member.name === '' && !isInMemory(pod));
    member.name = peer;
    const isForced = args.includes('--force-new-cluster=true');
    if (isForced) goOnAlone(this, member, data);
    data.isAlone = isForced;
    this.processes.set(name, { memberId, clusterId, claimUid: uid, version, isForced });
    const status = { podIP: `10.0.0.${peer.slice(5)}`, ...ready, containerStatuses: [] };
    this.kube.change(PODS, at, { status });
  }

  /** With an empty volume; undefined when etcd ends with an error. */
  #firstStart(peer: string, claimUid: string, { isNew, urls }: Bootstrap): DataModel | undefined {
    const url = urls.get(peer);
    if (url === undefined) return undefined;
    if (isNew) return this.#beBorn(peer, url, claimUid);
    const member = [...this.members.values()].find((one) => one.peerUrl === url);
    const canJoin = findsCluster(urls, [...this.members.values()]) && this.hasQuorum();
    if (member === undefined || !canJoin) return undefined;
    if (member.name !== '') return judgeRejoin(member);
    const { clusterId = '' } = this;
    const behind = CATCH_UP_TICKS;
    const data = { ...joined(this, peer), memberId: member.id, clusterId, behind };
    this.data.set(claimUid, data);
    return data;
  }

  #beBorn(peer: string, peerUrl: string, claimUid: string): DataModel {
    if (this.clusterId !== undefined) judgeRebirth(this);
    const [id = this.#nextId()] = this.members.keys();
    this.clusterId = '193';
    this.members.set(id, { id, peerUrl, name: peer, isLearner: false });
    const data = { ...EMPTY, memberId: id, clusterId: '193', behind: 0 };
    this.data.set(claimUid, data);
    return data;
  }

  #runLearners(): void {
    for (const { claimUid } of this.processes.values()) {
      const data = this.data.get(claimUid);
      if (data !== undefined && data.behind > 0 && this.leaderId !== undefined) data.behind -= 1;
    }
    for (const [name, { memberId }] of this.processes) {
      // The others tell a removed member to end.
      if (!this.members.has(memberId)) this.processes.delete(name);
    }
  }

  #elect(): void {
    if (this.leaderId !== undefined && this.isRunning(this.leaderId) && this.hasQuorum()) return;
    this.leaderId = this.hasQuorum()
      ? this.voters.find(({ id }) => this.isRunning(id))?.id
      : undefined;
  }
}
