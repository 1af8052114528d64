// The world of a takeover that gives the data up, on a model of the API server: old members that
// answer or do not, the functions that run an EtcdCluster from its birth on, clients that write
// where the Service leads, and the garbage collector. It throws as soon as something is lost that
// nobody has given up: a claim, or what clients wrote to the new cluster.
import type { Door } from '../../../functions/takeover/door.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { ETCD_PEERS } from '../../../shared/api/etcd-peer.ts';
import { Failure } from '../../../shared/errors.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { CLAIMS, PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import type { KubeModel } from '../stateful/kube-model.ts';
import { stateText } from '../stateful/passed.ts';
import { at, collectGarbage } from './others-at-work.ts';
import { objectIn, specIn, TakeoverRun } from './takeover-run.ts';
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

const TICK_MS = 2_000;
const LABELS = { 'ballast.dev/etcd-cluster': 'new' };
const ID = 'ballast.dev/etcd-cluster-id';
const QUORUM = 2;

interface Settings {
  /** Old members that answer. */
  readonly answering?: readonly string[];
  readonly start?: () => void;
}

export class WipeCarrying extends TakeoverRun<WipeCarrying> {
  /** Old members that answer. */
  answering: readonly string[];
  /** New members do not start. */
  isHeld = false;
  readonly #time: { ms: number };
  /** The uid of the EtcdCluster to which clients have written. */
  #written: string | undefined;

  private constructor(kube: KubeModel, answering: readonly string[], time = { ms: NOW_MS }) {
    super(kube);
    this.answering = answering;
    this.#time = time;
  }

  protected get self(): WipeCarrying {
    return this;
  }

  /** A plan is confirmed, with the word, and nothing is done yet. */
  static async confirmed({ answering = PODS_OF_OLD, start = begin }: Settings = {}) {
    start();
    putOperator(1);
    const run = new WipeCarrying(world.kube, answering);
    run.edit({ mode: 'Wipe' });
    await run.confirm();
    run.edit({ wipe: 'old' });
    return run;
  }

  copy(): WipeCarrying {
    const copy = new WipeCarrying(this.kube.copy(), this.answering, { ...this.#time });
    copy.befalls = this.befalls;
    copy.isHeld = this.isHeld;
    copy.#written = this.#written;
    return copy;
  }

  another(): WipeCarrying {
    return new WipeCarrying(this.kube, this.answering, this.#time);
  }

  state(): string {
    return stateText(this.kube, [this.#written]);
  }

  tick(): void {
    this.#time.ms += TICK_MS;
    this.#keepClaim();
    if (!this.isHeld) this.#runCluster();
    collectGarbage(this.kube);
    this.befalls(this);
    if (this.leadsToNew()) this.#written ??= this.cluster?.metadata.uid;
    this.judge();
    this.onMoment();
  }

  get cluster(): KubeObject | undefined {
    return objectIn(this, 'etcdclusters/new');
  }

  claim(name: string): KubeObject | undefined {
    return objectIn(this, `persistentvolumeclaims/${name}`);
  }

  leadsToNew(): boolean {
    const { selector } = specIn(this, 'services/old-client');
    return Object.hasOwn(Object(selector), 'ballast.dev/etcd-cluster');
  }

  /** As long as there is the peer a claim that is deleted is made anew. */
  #keepClaim(): void {
    const isThere = this.kube.objects.has(`etcdpeers/${namespace}/new-0`);
    if (isThere && this.claim('data-new-0') === undefined) this.#putClaim('data-new-0');
  }

  /** One thing at a time: the first member, its id, the mark of its claim, another member. */
  #runCluster(): void {
    const { cluster } = this;
    if (cluster === undefined) return;
    const { uid, annotations = {}, labels = {} } = cluster.metadata;
    // One of somebody else waits for that data.
    if (Object.hasOwn(annotations, ID)) return;
    const known = this.claim('data-new-0')?.metadata.annotations?.[ID];
    const { clusterId, conditions } = Object(cluster['status']) as Record<string, unknown>;
    const isReady = conditions !== undefined;
    if (!this.kube.objects.has(`pods/${namespace}/new-0-0`)) this.#startFirst(uid);
    else if (clusterId === undefined) {
      if (known !== undefined && labels['ballast.dev/takeover'] !== undefined) {
        throw new Error(`it is not empty: it has the data of cluster ${known}`);
      }
      this.kube.change(ETCD_CLUSTERS, at('new'), { status: { clusterId: known ?? `of-${uid}` } });
    } else if (known === undefined && this.claim('data-new-0') !== undefined) {
      const marked = { metadata: { annotations: { [ID]: clusterId } } };
      this.kube.change(CLAIMS, at('data-new-0'), marked);
    } else if (this.claim('data-new-1') === undefined) this.#putClaim('data-new-1');
    else if (!isReady) {
      const ready = { type: 'Ready', status: 'True', reason: 'Whole', message: 'It is.' };
      this.kube.change(ETCD_CLUSTERS, at('new'), { status: { conditions: [ready] } });
    }
  }

  #startFirst(uid: string): void {
    const owner = { apiVersion: 'ballast.dev/v1alpha1', kind: 'EtcdCluster', name: 'new', uid };
    const own = { labels: LABELS, ownerReferences: [owner] };
    this.kube.put(SERVICES, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...at('new'), ...own },
    });
    this.kube.put(ETCD_PEERS, {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'EtcdPeer',
      metadata: { ...at('new-0'), ...own },
    });
    this.kube.put(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { ...at('new-0-0'), ...own } });
    if (this.claim('data-new-0') === undefined) this.#putClaim('data-new-0');
  }

  #putClaim(name: string): void {
    const metadata = { ...at(name), labels: LABELS };
    this.kube.put(CLAIMS, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata });
  }

  protected judge(): void {
    const hasOld = this.kube.objects.has(`etcdclusters/${namespace}/old`);
    for (const name of ['old-b', 'old-c']) {
      const { ownerReferences: owners = [] } = this.claim(name)?.metadata ?? {};
      if (this.claim(name) === undefined) throw new Error(`${name} went`);
      if (!hasOld && owners.length > 0) throw new Error(`${name} goes with the old one`);
    }
    if (this.#written !== undefined && this.cluster?.metadata.uid !== this.#written) {
      throw new Error('what clients wrote to the new cluster is lost');
    }
    if (this.leadsToNew() && this.status.work?.switchingAt === undefined) {
      throw new Error('nobody has noted that nothing leads back');
    }
    if (!hasOld && !this.leadsToNew()) throw new Error('clients are led to nobody');
  }

  get ms(): number {
    return this.#time.ms;
  }

  protected door(): Partial<Door> {
    return {
      ask: async ({ url }) => {
        if (this.status.work !== undefined) throw new Error('it waits for who may be dead');
        const place = placeOf(url);
        if (!this.answering.includes(PODS_OF_OLD[place] ?? '')) {
          throw new Failure('ETCD_UNAVAILABLE', 'Silence.');
        }
        return { ...answerOf(place), isQuorate: this.answering.length >= QUORUM };
      },
    };
  }
}
