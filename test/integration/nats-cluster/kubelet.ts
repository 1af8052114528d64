// Plays the kubelet and the scheduler for the pods of one plane: gives each pod a node and an
// address, runs its container as a real process, keeps its Secrets fresh, says how it is, and
// honours its deletion. Fields of a pod that it does not know it leaves alone.
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { Plane } from '../../../knative/try/local/plane/plane.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { Container } from './container.ts';
import type { PodSpec } from './pod-spec.ts';
import { Followed, keyOf } from './followed.ts';
import { LOOK_EVERY_MS, newPod, type PodHere, probing } from './pod-here.ts';
import { filesIn, podStatus } from './pod-status.ts';
import { PODS } from './scene.ts';
import { Volumes } from './volumes.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const SECRETS = core('secrets');

/** A container that ends is started again after this, as the kubelet does at first. */
const BACKOFF_MS = 500;

export interface KubeletOptions {
  readonly plane: Plane;
  readonly kube: KubeClient;
  /** By image. */
  readonly binaries: Readonly<Record<string, string>>;
  /** Probes as often as the pod says, as a kubelet does, where time is measured. */
  readonly isPunctual?: boolean;
  /** Lines of servers that are no pods of it, as they stand in `/etc/hosts`. */
  readonly hosts?: readonly string[];
  /** Given all lines, for those servers. */
  readonly tellHosts?: (text: string) => Promise<void>;
}

const nodeOf = ({ metadata }: KubeObject): string => `node-of-${metadata.name}`;

export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #pods = new Map<string, PodHere>();
  readonly #ips = new Map<string, string>();
  /** A network of its own, so that rigs beside each other never meet. */
  readonly #network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  readonly #closed = new AbortController();
  #loop: Promise<unknown> = Promise.resolve();
  #changed = Promise.withResolvers<void>();
  readonly #volumes: Volumes;
  readonly #podsThere = new Followed(() => this.#changed.resolve());
  readonly #secrets = new Followed(() => this.#changed.resolve());
  readonly errors: unknown[] = [];
  readonly startsOf = (key: string) => this.#pods.get(key)?.container.starts ?? 0;

  constructor(options: KubeletOptions) {
    this.#options = options;
    const onChange = (): void => this.#changed.resolve();
    this.#volumes = new Volumes(options.kube, join(this.#dir, 'claims'), onChange);
  }

  get #dir(): string {
    return join(this.#options.plane.dir, 'kubelet');
  }

  start(): void {
    const { kube } = this.#options;
    const { signal } = this.#closed;
    this.#loop = Promise.allSettled([
      this.#podsThere.follow(kube, PODS, signal),
      this.#volumes.follow(signal),
      this.#secrets.follow(kube, SECRETS, signal),
      this.#run(signal),
    ]);
  }

  async stop(): Promise<void> {
    this.#closed.abort(new Error('the kubelet ends'));
    await this.#loop;
    await Promise.all([...this.#pods.values()].map((pod) => pod.container.kill()));
  }

  /** The process dies, and is not started again before it is released. */
  async hold(key: string): Promise<void> {
    const pod = this.#pods.get(key);
    if (pod === undefined) throw new Error(`there is no pod ${key}`);
    pod.isHeld = true;
    await pod.container.kill();
  }

  release(key: string): void {
    const pod = this.#pods.get(key);
    if (pod !== undefined) pod.isHeld = false;
  }

  /** As `kubectl exec`. */
  async exec(key: string, command: readonly string[]): Promise<void> {
    await this.#pods.get(key)?.container.exec(command);
  }

  /** Where the pod's container has its volume. */
  dataDir(key: string, mountPath = 'data'): string {
    return join(this.#dir, 'pods', this.#pods.get(key)?.uid ?? '', mountPath);
  }

  /** Where a claim's data is while no pod has it. */
  claimDir(namespace: string, claim: string): string {
    return this.#volumes.dirOf(namespace, claim);
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#changed = Promise.withResolvers();
      try {
        await this.#syncPods();
      } catch (error) {
        // The next look knows what this one does not know yet.
        if (!isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) this.errors.push(error);
      }
      await Promise.race([this.#changed.promise, systemClock.sleep(LOOK_EVERY_MS)]);
    }
  }

  async #syncPods(): Promise<void> {
    const items = this.#podsThere.all();
    const seen = new Set(items.map(({ metadata }) => metadata.uid));
    // Deleted with force: nobody asks for its last words.
    for (const pod of this.#pods.values()) {
      if (!seen.has(pod.uid) && !pod.isEnding) await this.#drop(pod);
    }
    await this.#volumes.bind();
    for (const object of items) await this.#lookAt(object);
  }

  async #lookAt(object: KubeObject): Promise<void> {
    const { uid, deletionTimestamp } = object.metadata;
    const key = keyOf(object.metadata);
    const spec = object['spec'] as PodSpec;
    const here = this.#pods.get(key);
    if (deletionTimestamp !== undefined) {
      if (here === undefined || here.uid !== uid) await this.#forget(object);
      else if (!here.isEnding) this.#end(here, object);
      return;
    }
    if (here !== undefined && here.uid === uid) return this.#keep(here, object);
    if (here !== undefined) return;
    if (spec.nodeName === undefined) await this.#bind(object);
    // One on any other node was put there by a test, which runs it.
    else if (spec.nodeName === nodeOf(object)) await this.#begin(object, spec);
  }

  async #bind(pod: KubeObject): Promise<void> {
    const { name, namespace = '' } = pod.metadata;
    const { volumes } = pod['spec'] as PodSpec;
    const claim = volumes.flatMap((one) => one.persistentVolumeClaim?.claimName ?? [])[0];
    if (claim !== undefined && (await this.#volumes.isEnding(namespace, claim))) return;
    const target = { apiVersion: 'v1', kind: 'Node', name: nodeOf(pod) };
    const metadata = { name, namespace };
    const body = { apiVersion: 'v1', kind: 'Binding', metadata, target };
    const at = { name, namespace, subresource: 'binding' };
    await this.#options.kube.createSubresource(PODS, at, body);
  }

  async #begin(object: KubeObject, spec: PodSpec): Promise<void> {
    const { name, namespace = '', uid } = object.metadata;
    const binary = this.#options.binaries[spec.containers[0].image];
    // As an image that cannot be pulled.
    if (binary === undefined) return;
    const claim = spec.volumes.flatMap((one) => one.persistentVolumeClaim?.claimName ?? [])[0];
    if (claim !== undefined && !(await this.#volumes.has(namespace, claim))) return;
    const mounted = await this.#secretsOf(spec, namespace);
    const key = keyOf(object.metadata);
    const ip = this.#ips.get(key) ?? `${this.#network}.${this.#ips.size + 1}`;
    this.#ips.set(key, ip);
    const container = new Container({
      plane: this.#options.plane,
      root: join(this.#dir, 'pods', uid),
      podName: name,
      ip,
      spec,
      binary,
      secretValue: async (secret, entry) => {
        const found = await this.#options.kube.get(SECRETS, { namespace, name: secret });
        return found === null ? undefined : filesIn(found)[entry];
      },
      claimDir: claim === undefined ? undefined : this.#volumes.dirOf(namespace, claim),
    });
    await container.prepare();
    const pod = newPod({ uid, key, ip, spec, container });
    this.#pods.set(key, pod);
    await this.#syncSecrets(pod, (one) => mounted.get(one));
    await this.#writeHosts();
    await container.start();
    await this.#writeStatus(pod, object);
  }

  /** By name, as they are now: their watch may be behind that of pods. Fails while one lacks. */
  async #secretsOf({ volumes }: PodSpec, namespace: string): Promise<Map<string, KubeObject>> {
    const found = new Map<string, KubeObject>();
    for (const { secret } of volumes) {
      if (secret === undefined) continue;
      const { secretName: name } = secret;
      const object = await this.#options.kube.get(SECRETS, { namespace, name });
      if (object === null) throw new Error(`there is no Secret ${name}`);
      found.set(name, object);
    }
    return found;
  }

  async #keep(pod: PodHere, object: KubeObject): Promise<void> {
    if (pod.isEnding) return;
    const { namespace = '' } = object.metadata;
    await this.#syncSecrets(pod, (name) => this.#secrets.get(`${namespace}/${name}`));
    if (!pod.container.isRunning && !pod.isHeld) {
      if (pod.container.ended !== undefined) await this.#writeStatus(pod, object);
      await systemClock.sleep(BACKOFF_MS);
      await pod.container.start();
    }
    const isReady = await this.#isReady(pod);
    if (isReady === pod.isReady) return;
    pod.isReady = isReady;
    await this.#writeStatus(pod, object);
  }

  async #isReady(pod: PodHere): Promise<boolean> {
    if (!pod.container.isRunning) {
      pod.probeAtMs = 0;
      return false;
    }
    if (systemClock.nowMs() < pod.probeAtMs) return pod.isReady;
    const { everyMs, missesMax } = probing(pod, this.#options.isPunctual === true);
    const answers = await pod.container.isReady();
    pod.misses = answers ? 0 : pod.misses + 1;
    pod.probeAtMs = systemClock.nowMs() + everyMs;
    return answers || (pod.isReady && pod.misses < missesMax);
  }

  /** As the kubelet, it leaves what is mounted of a Secret that is gone. */
  async #syncSecrets(
    pod: PodHere,
    secretNamed: (name: string) => KubeObject | undefined,
  ): Promise<void> {
    for (const { name: volume, secret } of pod.spec.volumes) {
      const found = secret === undefined ? undefined : secretNamed(secret.secretName);
      if (found === undefined) continue;
      const version = Number(found.metadata.resourceVersion);
      if (version <= (pod.secrets.get(volume) ?? 0)) continue;
      pod.secrets.set(volume, version);
      await pod.container.mountFiles(volume, filesIn(found));
    }
  }

  /** As the headless Service's names resolve: every pod, ready or not. */
  async #writeHosts(): Promise<void> {
    const lines = [...this.#pods.values()].flatMap(({ key, ip, spec, container }) => {
      const [namespace = '', name = ''] = key.split('/');
      const host = `${name}.${spec.subdomain}.${namespace}.svc`;
      return [ip, ...container.comesFrom].map((address) => `${address} ${host}`);
    });
    const { hosts = [] } = this.#options;
    const text = ['127.0.0.1 localhost', ...hosts, ...lines, ''].join('\n');
    await Promise.all([...this.#pods.values()].map(({ container }) => container.writeHosts(text)));
    await this.#options.tellHosts?.(text);
  }

  #end(pod: PodHere, object: KubeObject): void {
    pod.isEnding = true;
    const { deletionGracePeriodSeconds: graceSeconds } = object.metadata as {
      readonly deletionGracePeriodSeconds?: number;
    };
    const ending = async (): Promise<void> => {
      await pod.container.end((graceSeconds ?? 30) * 1_000);
      await this.#drop(pod);
      await this.#forget(object);
    };
    ending().catch((error: unknown) => this.errors.push(error));
  }

  async #drop(pod: PodHere): Promise<void> {
    await pod.container.kill();
    this.#pods.delete(pod.key);
    await pod.container.remove();
  }

  /** The API server keeps a pod until the kubelet says that it is gone. */
  async #forget({ metadata }: KubeObject): Promise<void> {
    const { name, namespace = '', uid } = metadata;
    await this.#options.kube.delete(PODS, { name, namespace }, { uid }, { gracePeriodSeconds: 0 });
  }

  async #writeStatus(pod: PodHere, { metadata }: KubeObject): Promise<void> {
    const { name, namespace = '' } = metadata;
    const status = podStatus(pod, pod.container.ended);
    const target = { name, namespace, subresource: 'status' };
    await this.#options.kube.patch(PODS, target, { type: 'merge', body: { status } });
  }
}
