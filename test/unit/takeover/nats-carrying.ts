// The world of a takeover of a NatsCluster that is carried out, on a model of the API server: old
// servers and new ones, clients that stay connected for as long as their server is there, the
// function that runs a NatsCluster, an operator that fights, a kubelet and the garbage collector.
// It throws as soon as two that are connected do not hear each other, or nobody lets a client in.
import type { Door } from '../../../functions/takeover/door.ts';
import { Failure } from '../../../shared/errors.ts';
import type { KubeModel } from '../stateful/kube-model.ts';
import { stateText } from '../stateful/passed.ts';
import {
  fight,
  ipOf,
  isNew,
  podNames,
  routedPods,
  runCluster,
  runKubelet,
  runStatefulSet,
} from './nats-others.ts';
import { beginNats, putNatsOperator } from './nats-world.ts';
import { collectGarbage } from './others-at-work.ts';
import { specIn, TakeoverRun } from './takeover-run.ts';
import { namespace, NOW_MS, world } from './world.ts';

const CLIENTS = 9;
const TICK_MS = 2_000;

interface Time {
  ms: number;
}

export class NatsCarrying extends TakeoverRun<NatsCarrying> {
  /** By client, the pod that it is connected to. */
  readonly clients: Map<number, string>;
  /** Clients that never come back. */
  readonly gone: Set<number>;
  readonly #time: Time;
  /** Servers that do not answer. */
  silent: (pod: string) => boolean = () => false;
  /** The garbage collector is slow. */
  isGarbageKept = false;
  /** Pods of a chart that go are not made anew yet. */
  isSetAsleep = false;
  /** That of the configuration which all servers have loaded. */
  digest: string | undefined;
  /** All servers keep streams. */
  hasStreams = false;
  /** New servers get no route. */
  isUnroutable = false;
  /** Somebody has the Service lead to nobody for a while. */
  isMisled = false;
  #turn = 0;

  private constructor(
    kube: KubeModel,
    { clients, gone }: Pick<NatsCarrying, 'clients' | 'gone'>,
    time: Time,
  ) {
    super(kube);
    this.clients = clients;
    this.gone = gone;
    this.#time = time;
  }

  get ms(): number {
    return this.#time.ms;
  }

  protected get self(): NatsCarrying {
    return this;
  }

  /** A plan is confirmed, and nothing is done yet. */
  static async confirmed(
    begin: () => void = () => {
      beginNats();
      putNatsOperator(1);
    },
  ): Promise<NatsCarrying> {
    begin();
    const pods = podNames(world.kube).filter((name) => !isNew(name));
    const clients = Array.from(
      { length: CLIENTS },
      (_, one) => [one, pods[one % 3] ?? ''] as const,
    );
    const from = { clients: new Map(clients), gone: new Set<number>() };
    const run = new NatsCarrying(world.kube, from, { ms: NOW_MS });
    await run.confirm();
    return run;
  }

  another(): NatsCarrying {
    return new NatsCarrying(this.kube, this, this.#time);
  }

  copy(): NatsCarrying {
    const from = { clients: new Map(this.clients), gone: new Set(this.gone) };
    const copy = new NatsCarrying(this.kube.copy(), from, { ms: this.ms });
    copy.befalls = this.befalls;
    copy.silent = this.silent;
    copy.isUnroutable = this.isUnroutable;
    copy.isMisled = this.isMisled;
    copy.digest = this.digest;
    copy.hasStreams = this.hasStreams;
    copy.#turn = this.#turn;
    return copy;
  }

  state(): string {
    return stateText(this.kube, [[...this.clients], [...this.gone]]);
  }

  /** All others do what they do, and clients come back. */
  tick(): void {
    this.#time.ms += TICK_MS;
    this.befalls(this);
    if (!this.isGarbageKept) collectGarbage(this.kube);
    runKubelet(this.kube);
    runCluster(this.kube);
    if (!this.isSetAsleep) runStatefulSet(this.kube);
    fight(this.kube);
    this.#connect();
    this.judge();
    this.onMoment();
  }

  /** Those whose server is gone; and one who connects anew by himself. */
  #connect(): void {
    const there = podNames(this.kube);
    const served = this.#served();
    this.#turn += 1;
    for (const [client, pod] of this.clients) {
      const isAway = !there.includes(pod) || client === this.#turn % CLIENTS;
      if (!isAway || this.gone.has(client)) continue;
      const next = served[(client + this.#turn) % served.length];
      if (next !== undefined) this.clients.set(client, next);
      else if (!this.isMisled) throw new Error(`nobody lets client ${client} in`);
    }
  }

  /** Pods behind the Service; none where it is gone. */
  #served(): readonly string[] {
    const { selector } = specIn(this, 'services/old') as { selector?: Record<string, string> };
    if (selector === undefined) return [];
    return podNames(this.kube).filter((name) => {
      const { labels = {} } = this.kube.objects.get(`pods/${namespace}/${name}`)?.metadata ?? {};
      return Object.entries(selector).every(([key, value]) => labels[key] === value);
    });
  }

  protected judge(): void {
    const there = podNames(this.kube);
    const connected = [...this.clients.values()].filter((pod) => there.includes(pod));
    const routed = routedPods(this.kube);
    const hasNew = connected.some((pod) => isNew(pod));
    const unheard = connected.filter((pod) => !isNew(pod) && !routed.includes(pod));
    if (hasNew && unheard.length > 0) throw new Error(`clients of ${unheard[0]} are unheard`);
    const hasDeleted = this.writes.some((one) => /^(?:delete pods|patch statefulsets) /.test(one));
    if (hasDeleted && this.status.work?.switchingAt === undefined) {
      throw new Error('a server has left, and nobody has noted that nothing leads back');
    }
    const service = this.kube.objects.get(`services/${namespace}/old`);
    const { ownerReferences: owners = [], labels = {} } = service?.metadata ?? {};
    const isLed = this.#served().some((pod) => isNew(pod));
    const isOfHelm = labels['app.kubernetes.io/managed-by'] === 'Helm';
    if (isLed && (owners.length > 0 || isOfHelm)) throw new Error('it would be collected');
  }

  #podAt(origin: string): string {
    const ip = new URL(origin).hostname;
    const pod = podNames(this.kube).find((name) => ipOf(name) === ip);
    if (pod === undefined || this.silent(pod)) throw new Failure('NATS_UNAVAILABLE', 'Silence.');
    return pod;
  }

  #countOf(pod: string): number {
    const isHere = ([client, at_]: readonly [number, string]): boolean =>
      at_ === pod && !this.gone.has(client);
    return [...this.clients].filter(isHere).length;
  }

  protected door(): Partial<Door> {
    return {
      monitor: async (origin) => {
        const pod = this.#podAt(origin);
        const asks = { asksLogin: true, asksTls: false, hasStreams: this.hasStreams };
        const loaded = this.digest === undefined ? {} : { digest: this.digest };
        return { id: `N${pod}`, version: '2.1.9', ...asks, ...loaded, clients: this.#countOf(pod) };
      },
      routes: async (origin) => {
        const pod = this.#podAt(origin);
        const isRouted = !this.isUnroutable && routedPods(this.kube).includes(pod);
        return podNames(this.kube).flatMap((one) => (isNew(one) !== isRouted ? [] : [`N${one}`]));
      },
      accounts: async (origin) => {
        const pod = this.#podAt(origin);
        return new Map([
          // Functions come and go.
          ['SYS', this.#turn % 2],
          ['$G', this.#countOf(pod)],
        ]);
      },
    };
  }
}
