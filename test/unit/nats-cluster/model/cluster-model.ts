// A cluster of NATS servers as far as the function nats-cluster can tell one from real ones, and
// the StatefulSet controller and kubelet around it. It holds the rules that must never be broken,
// and throws where one is.
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import {
  configDigest,
  type ConfigObject,
} from '../../../../functions/nats-cluster/render/config.ts';
import { claimTemplateIn } from '../../../../shared/stateful/claim-template.ts';
import { CLAIMS, PODS } from '../../../../shared/stateful/parts.ts';
import { KubeModel } from '../../stateful/kube-model.ts';
import { stateText } from '../../stateful/passed.ts';

export interface StreamModel {
  readonly account: string;
  readonly stream: string;
  readonly replicas: number;
  servers: readonly string[];
  /** Ticks until a server has everything. */
  readonly behind: Map<string, number>;
  /** Where it is going. */
  moving?: { readonly to: readonly string[]; ticks: number };
}

interface RecordModel {
  readonly server?: string;
  readonly claimUid?: string;
  readonly podUid?: string;
}

interface ServerModel {
  readonly name: string;
  readonly id: string;
  digest: string;
  /** The password of its system account. */
  password: string;
  readonly version: string;
}

interface SystemAccount {
  readonly accounts: { readonly SYS: { readonly users: readonly [{ readonly password: string }] } };
}

export const NAMESPACE = 'shop';
export const NAME = 'nats';
const LABELS = { 'ballast.dev/nats-cluster': NAME };
const CATCH_UP_TICKS = 2;

export class ClusterModel {
  readonly kube: KubeModel;
  readonly streams: StreamModel[] = [];
  readonly servers = new Map<string, ServerModel>();
  metaLeader: string | undefined;
  readonly metaPeers = new Set<string>();
  /** The refusal of NATS to move a stream; undefined when it moves it. */
  refusesMoves: string | undefined;
  movesRefused = 0;
  nowMs = Date.parse('2026-01-02T00:00:00Z');
  #ids = 0;

  constructor(kube = new KubeModel()) {
    this.kube = kube;
    kube.onDelete = (resource, object) => this.#judge(resource, object);
  }

  /** Another one in the same state; what a test has asked of this one is not asked of it. */
  copy(): ClusterModel {
    const copy = new ClusterModel(this.kube.copy());
    copy.streams.push(...structuredClone(this.streams));
    for (const [name, server] of this.servers) copy.servers.set(name, { ...server });
    for (const peer of this.metaPeers) copy.metaPeers.add(peer);
    copy.metaLeader = this.metaLeader;
    copy.nowMs = this.nowMs;
    copy.#ids = this.#ids;
    return copy;
  }

  /** In words, but for the time. */
  state(): string {
    const { kube, streams, servers, metaLeader, metaPeers, refusesMoves } = this;
    const placed = streams.map(({ behind, ...stream }) => [stream, [...behind]]);
    return stateText(kube, [placed, [...servers], metaLeader, [...metaPeers], refusesMoves]);
  }

  /** A stream on the servers that come first. */
  addStream(stream: string, servers: readonly string[]): void {
    const replicas = servers.length;
    this.streams.push({ account: 'DEFAULT', stream, replicas, servers, behind: new Map() });
  }

  isCurrent(server: string): boolean {
    return (
      this.servers.has(server) &&
      this.streams.every(({ servers, behind }) => !servers.includes(server) || !behind.has(server))
    );
  }

  get size(): number {
    return (
      (this.#statefulSet()?.['spec'] as { readonly replicas: number } | undefined)?.replicas ?? 0
    );
  }

  pods(): readonly KubeObject[] {
    return [...this.kube.of('pods').values()];
  }

  #statefulSet(): KubeObject | undefined {
    return this.kube.objects.get(`statefulsets/${NAMESPACE}/${NAME}`);
  }

  /** Access modes of the claims that the StatefulSet makes. */
  accessModes(): readonly string[] {
    const set = this.#statefulSet();
    return (set === undefined ? undefined : claimTemplateIn(set))?.accessModes ?? [];
  }

  /** Throws when the function destroys what it must not destroy now. */
  #judge(resource: string, { metadata }: KubeObject): void {
    const { name, uid } = metadata;
    if (resource === 'pods') {
      const others = Array.from({ length: this.size }, (_, ordinal) => `${NAME}-${ordinal}`);
      const away = others.filter((one) => one !== name && !this.isCurrent(one));
      const { restarting, replacing } = this.status();
      const isRecorded = restarting?.podUid === uid || replacing?.podUid === uid;
      if (!isRecorded) throw new Error(`pod ${name} was deleted without a record`);
      if (away.length > 0) throw new Error(`${name} was deleted while ${away.join()} was away`);
    }
    if (resource === 'persistentvolumeclaims') {
      const { leaving, replacing } = this.status();
      const isRecorded = leaving?.claimUid === uid || replacing?.claimUid === uid;
      if (!isRecorded) throw new Error(`claim ${name} was deleted without a record`);
      const server = name.replace('data-', '');
      const held = this.streams.filter(({ servers }) => servers.includes(server));
      const bare = held.filter(({ servers, behind, replicas }) => {
        const whole = servers.filter((one) => one !== server && !behind.has(one));
        return whole.length <= Math.floor(replicas / 2);
      });
      if (bare.length > 0) throw new Error(`claim ${name} was deleted and ${bare[0]?.stream} lost`);
    }
  }

  status(): Record<string, RecordModel | undefined> {
    const cluster = this.kube.objects.get(`natsclusters/${NAMESPACE}/${NAME}`);
    return (cluster?.['status'] ?? {}) as Record<string, RecordModel | undefined>;
  }

  /** One moment: every controller and server gets a little further. */
  tick(): void {
    this.nowMs += 1_000;
    this.#runStatefulSet();
    this.#runPods();
    this.#runMeta();
    for (const stream of this.streams) this.#runStream(stream);
  }

  #runStatefulSet(): void {
    const set = this.#statefulSet();
    if (set === undefined) return;
    const { template, volumeClaimTemplates } = set['spec'] as {
      readonly template: { readonly metadata: { readonly annotations: Record<string, string> } };
      readonly volumeClaimTemplates?: readonly { readonly spec: object }[];
    };
    for (let ordinal = 0; ordinal < this.size; ordinal += 1) {
      const name = `${NAME}-${ordinal}`;
      const claim = { namespace: NAMESPACE, name: `data-${name}` };
      const spec = volumeClaimTemplates?.[0]?.spec;
      // The real one makes a missing claim for a pod that waits only when something wakes it.
      if (this.kube.objects.has(`pods/${NAMESPACE}/${name}`)) continue;
      if (spec !== undefined && this.#claimOf(name) === undefined) {
        const body = {
          spec: { ...spec, storageClassName: 'standard' },
          status: { phase: 'Bound' },
        };
        const metadata = { ...claim, labels: LABELS };
        this.kube.put(CLAIMS, {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata,
          ...body,
        });
      }
      const { annotations } = template.metadata;
      const metadata = { namespace: NAMESPACE, name, labels: LABELS, annotations };
      this.kube.put(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec: template });
      return;
    }
    const surplus = this.pods().find(
      ({ metadata }) =>
        Number(metadata.name.slice(NAME.length + 1)) >= this.size &&
        metadata.deletionTimestamp === undefined,
    );
    if (surplus === undefined) return;
    const deletionTimestamp = new Date(this.nowMs).toISOString();
    const { name } = surplus.metadata;
    if (this.status()['leaving']?.server !== name) throw new Error(`${name} went unrecorded`);
    this.kube.change(PODS, { namespace: NAMESPACE, name }, { metadata: { deletionTimestamp } });
  }

  #claimOf(server: string): KubeObject | undefined {
    return this.kube.objects.get(`persistentvolumeclaims/${NAMESPACE}/data-${server}`);
  }

  /** Or it needs none. */
  hasVolume(server: string): boolean {
    if (this.accessModes().length === 0) return true;
    const { phase } = Object(this.#claimOf(server)?.['status']);
    return phase === 'Bound';
  }

  #runPods(): void {
    for (const pod of this.pods()) {
      const { name, deletionTimestamp } = pod.metadata;
      const at = { namespace: NAMESPACE, name };
      if (deletionTimestamp !== undefined) {
        this.stopServer(name);
        this.kube.remove(PODS, at);
      } else if (!this.servers.has(name) && this.hasVolume(name)) this.#startServer(pod);
    }
  }

  stopServer(name: string): void {
    this.servers.delete(name);
    if (this.metaLeader === name) this.metaLeader = undefined;
    for (const { servers, behind } of this.streams) {
      if (servers.includes(name)) behind.set(name, CATCH_UP_TICKS);
    }
  }

  loseVolume(server: string): void {
    this.stopServer(server);
    this.kube.change(
      CLAIMS,
      { namespace: NAMESPACE, name: `data-${server}` },
      { status: { phase: 'Lost' } },
    );
    this.kube.change(PODS, { namespace: NAMESPACE, name: server }, { status: NOT_READY });
  }

  #startServer(pod: KubeObject): void {
    const { name } = pod.metadata;
    this.#ids += 1;
    const { containers } = (
      pod['spec'] as { readonly spec: { readonly containers: { image: string }[] } }
    ).spec;
    const version = containers[0]?.image.split(':')[1] ?? '';
    this.servers.set(name, { name, id: `ID${this.#ids}`, ...this.fileOf(name), version });
    this.kube.change(PODS, { namespace: NAMESPACE, name }, { status: READY });
  }

  /** The file's digest and password for a server that reads it now. */
  fileOf(server: string): Pick<ServerModel, 'digest' | 'password'> {
    const secret = this.kube.objects.get(`secrets/${NAMESPACE}/${NAME}-config`);
    const data = (secret?.['data'] ?? {}) as Record<string, string>;
    const text = Buffer.from(data['nats.conf'] ?? '', 'base64').toString();
    const entries = text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('server_name'))
      .map((line) => [
        line.slice(0, line.indexOf(':')),
        JSON.parse(line.slice(line.indexOf(':') + 1)),
      ]);
    const config = Object.fromEntries(entries) as ConfigObject & SystemAccount;
    const { password } = config.accounts.SYS.users[0];
    return { digest: configDigest(config, server), password };
  }

  #runMeta(): void {
    const up = [...this.servers.keys()];
    const voters = this.metaPeers.size === 0 ? up : up.filter((one) => this.metaPeers.has(one));
    const needed = Math.floor(Math.max(this.metaPeers.size, 2) / 2) + 1;
    if (this.metaLeader === undefined && voters.length >= needed) this.metaLeader = voters[0];
    if (this.metaLeader !== undefined) for (const one of up) this.metaPeers.add(one);
  }

  #runStream(stream: StreamModel): void {
    for (const [server, ticks] of stream.behind) {
      if (!this.servers.has(server)) continue;
      if (ticks <= 1) stream.behind.delete(server);
      else stream.behind.set(server, ticks - 1);
    }
    const { moving } = stream;
    if (moving === undefined) return;
    moving.ticks -= 1;
    if (moving.ticks > 0) return;
    stream.servers = moving.to;
    delete stream.moving;
  }
}

const condition = (type: string, status: string) => ({ type, status });
const READY = { podIP: '10.0.0.1', conditions: [condition('Ready', 'True')] };
const NOT_READY = { podIP: '10.0.0.1', conditions: [condition('Ready', 'False')] };
