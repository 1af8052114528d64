// Plays the kubelet and the scheduler for the pods of one plane: gives each pod a node and an
// address, runs its container as a real process, keeps its Secrets fresh, says how it is, and
// honours its deletion. Fields of a pod that it does not know it leaves alone.
import { mkdir, rm } from 'node:fs/promises';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { Plane } from '../../../knative/try/local/plane/plane.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { Container, type PodSpec } from './container.ts';
import { filesIn, podStatus } from './pod-status.ts';
import { CLAIMS, PODS } from './scene.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const SECRETS = core('secrets');

/** A look is three lists, whatever there is; oftener it took half of what a test cost. */
const LOOK_EVERY_MS = 200;
/** A container that ends is started again after this, as the kubelet does at first. */
const BACKOFF_MS = 500;

interface PodHere {
  readonly uid: string;
  readonly key: string;
  readonly ip: string;
  readonly spec: PodSpec;
  readonly container: Container;
  readonly secrets: Map<string, string>;
  isReady: boolean;
  isEnding: boolean;
  /** Somebody wants it to stay down. */
  isHeld: boolean;
}

export interface KubeletOptions {
  readonly plane: Plane;
  readonly kube: KubeClient;
  /** By image. */
  readonly binaries: Readonly<Record<string, string>>;
}

/** By `namespace/name`. */
type Secrets = ReadonlyMap<string, KubeObject>;

export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #pods = new Map<string, PodHere>();
  readonly #ips = new Map<string, string>();
  /** A network of its own, so that rigs beside each other never meet. */
  readonly #network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  #loop: Promise<void> = Promise.resolve();
  #isClosed = false;
  readonly errors: unknown[] = [];

  constructor(options: KubeletOptions) {
    this.#options = options;
  }

  get #dir(): string {
    return join(this.#options.plane.dir, 'kubelet');
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#isClosed = true;
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
  dataDir(key: string): string {
    return join(this.#dir, 'pods', this.#pods.get(key)?.uid ?? '', 'data');
  }

  #claimDir(key: string): string {
    return join(this.#dir, 'claims', key.replace('/', '_'));
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#syncPods();
      } catch (error) {
        if (!isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) this.errors.push(error);
      }
      await systemClock.sleep(LOOK_EVERY_MS);
    }
  }

  async #syncPods(): Promise<void> {
    const { items } = await this.#options.kube.list(PODS);
    const seen = new Set(items.map(({ metadata }) => metadata.uid));
    // Deleted with force: nobody asks for its last words.
    for (const pod of this.#pods.values()) {
      if (!seen.has(pod.uid) && !pod.isEnding) await this.#drop(pod);
    }
    await this.#bindClaims();
    const secrets = await this.#secrets();
    for (const object of items) await this.#lookAt(object, secrets);
  }

  async #secrets(): Promise<Secrets> {
    const { items } = await this.#options.kube.list(SECRETS);
    const keyOf = ({ namespace = '', name }: KubeObject['metadata']) => `${namespace}/${name}`;
    return new Map(items.map((secret) => [keyOf(secret.metadata), secret]));
  }

  async #bindClaims(): Promise<void> {
    const { kube } = this.#options;
    const { items } = await kube.list(CLAIMS);
    for (const { metadata, status } of items) {
      if ((status as { readonly phase?: string })?.phase === 'Bound') continue;
      const { name, namespace = '' } = metadata;
      const dir = this.#claimDir(`${namespace}/${name}`);
      // A new claim has a new volume.
      await rm(dir, { recursive: true, force: true });
      await mkdir(dir, { recursive: true });
      const body = { status: { phase: 'Bound' } };
      const target = { name, namespace, subresource: 'status' };
      await kube.patch(CLAIMS, target, { type: 'merge', body });
    }
  }

  async #lookAt(object: KubeObject, secrets: Secrets): Promise<void> {
    const { name, namespace = '', uid, deletionTimestamp } = object.metadata;
    const key = `${namespace}/${name}`;
    const spec = object['spec'] as PodSpec;
    const here = this.#pods.get(key);
    if (deletionTimestamp !== undefined) {
      if (here === undefined || here.uid !== uid) await this.#forget(object);
      else if (!here.isEnding) this.#end(here, object);
      return;
    }
    if (here !== undefined && here.uid === uid) return this.#keep(here, object, secrets);
    if (here !== undefined) return;
    if (spec.nodeName === undefined) await this.#bind(object);
    else await this.#begin(object, spec, secrets);
  }

  async #bind({ metadata: { name, namespace = '' } }: KubeObject): Promise<void> {
    const target = { apiVersion: 'v1', kind: 'Node', name: `node-of-${name}` };
    const metadata = { name, namespace };
    const body = { apiVersion: 'v1', kind: 'Binding', metadata, target };
    const at = { name, namespace, subresource: 'binding' };
    await this.#options.kube.createSubresource(PODS, at, body);
  }

  async #begin(object: KubeObject, spec: PodSpec, known: Secrets): Promise<void> {
    const { name, namespace = '', uid } = object.metadata;
    const { plane, binaries } = this.#options;
    const binary = binaries[spec.containers[0].image];
    // As an image that cannot be pulled.
    if (binary === undefined) return;
    const claim = spec.volumes.flatMap((one) => one.persistentVolumeClaim?.claimName ?? [])[0];
    const key = `${namespace}/${name}`;
    const ip = this.#ips.get(key) ?? `${this.#network}.${this.#ips.size + 1}`;
    this.#ips.set(key, ip);
    const container = new Container({
      plane,
      root: join(this.#dir, 'pods', uid),
      podName: name,
      ip,
      spec,
      binary,
      claimDir: claim === undefined ? undefined : this.#claimDir(`${namespace}/${claim}`),
    });
    await container.prepare();
    const secrets = new Map<string, string>();
    const pod = {
      uid,
      key,
      ip,
      spec,
      container,
      secrets,
      isReady: false,
      isEnding: false,
      isHeld: false,
    };
    this.#pods.set(key, pod);
    await this.#syncSecrets(pod, namespace, known);
    await this.#writeHosts();
    await container.start();
    await this.#writeStatus(pod, object);
  }

  async #keep(pod: PodHere, object: KubeObject, secrets: Secrets): Promise<void> {
    if (pod.isEnding) return;
    const { namespace = '' } = object.metadata;
    await this.#syncSecrets(pod, namespace, secrets);
    if (!pod.container.isRunning && !pod.isHeld) {
      await systemClock.sleep(BACKOFF_MS);
      await pod.container.start();
    }
    const isReady = pod.container.isRunning && (await pod.container.isReady());
    if (isReady === pod.isReady) return;
    pod.isReady = isReady;
    await this.#writeStatus(pod, object);
  }

  async #syncSecrets(pod: PodHere, namespace: string, known: Secrets): Promise<void> {
    for (const { name: volume, secret } of pod.spec.volumes) {
      if (secret === undefined) continue;
      const found = known.get(`${namespace}/${secret.secretName}`);
      if (found === undefined) throw new Error(`there is no Secret ${secret.secretName}`);
      const { resourceVersion } = found.metadata;
      if (pod.secrets.get(volume) === resourceVersion) continue;
      pod.secrets.set(volume, resourceVersion);
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
    const text = ['127.0.0.1 localhost', ...lines, ''].join('\n');
    await Promise.all([...this.#pods.values()].map(({ container }) => container.writeHosts(text)));
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
    const status = podStatus(pod);
    const target = { name, namespace, subresource: 'status' };
    await this.#options.kube.patch(PODS, target, { type: 'merge', body: { status } });
  }
}
