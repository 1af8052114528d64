// Plays the scheduler and the kubelet for pods of Jobs: each container runs as a process, one
// after another, with the pod's files in a directory of its own, and what it says at its end goes
// into the pod's status. A pod may be held before its first program starts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { systemClock } from '../../../shared/clock.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { CLAIMS, PODS } from '../../../shared/stateful/parts.ts';
import { Followed } from '../nats-cluster/followed.ts';
import type { Container, PodSpec, Volume } from './job-pod-spec.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const NAMED_HOSTS = new URL('named-hosts.ts', import.meta.url).href;
/** Pods come by a watch: to list them so often was dearer than what runs in them. */
const LOOK_EVERY_MS = 50;
/** So long ago that a Job does not wait before it tries again. */
const AT = '2026-11-25T04:00:00Z';
/** As much of a log as is kept, where the pod asks for its end. */
const LAST_WORDS_BYTES = 2_048;

interface Ended {
  readonly name: string;
  readonly exitCode: number;
  readonly message: string;
}

const statusOf = ({ name, exitCode, message }: Ended): object => ({
  name,
  image: '',
  imageID: '',
  restartCount: 0,
  ready: false,
  state: { terminated: { exitCode, message, reason: 'Ended', startedAt: AT, finishedAt: AT } },
});

export interface JobPodsOptions {
  /** The label of the pods that it plays. */
  readonly label?: string;
  /** The file that runs for a program, by its path in the image; `.mjs` runs in Node. */
  readonly programs: Readonly<Record<string, string>>;
  /** The same for images whose programs differ, by image and path. */
  readonly programsOf?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Where claims are kept, once they are bound; else they are there at once. */
  readonly claimDir?: (namespace: string, claim: string) => string;
  /** Addresses of pods by their names in DNS, which programs in Node find. */
  readonly hosts?: Readonly<Record<string, string>>;
  /** After a container has ended: what the kubelet does for the next one. */
  readonly between?: (dir: string) => Promise<void>;
}

export class JobPods {
  /** As it is told by the pod. */
  retell: (message: string) => string = (message) => message;
  /** No program starts. */
  isHeld = false;
  /** So many pods are lost with their node when they end, and nobody hears how. */
  lost = 0;
  readonly errors: unknown[] = [];
  readonly #kube: KubeClient;
  readonly #dir: string;
  readonly #options: JobPodsOptions;
  readonly #label: string;
  readonly #ends = new Map<string, AbortController>();
  readonly #closed = new AbortController();
  #loop: Promise<unknown> = Promise.resolve();
  readonly #there = new Followed();

  constructor(kube: KubeClient, dir: string, options: JobPodsOptions) {
    this.#kube = kube;
    this.#dir = dir;
    this.#options = options;
    this.#label = options.label ?? 'ballast.dev/etcd-backup';
  }

  start(): void {
    const which = { labelSelector: this.#label };
    const following = this.#there.follow(this.#kube, PODS, this.#closed.signal, which);
    this.#loop = Promise.allSettled([following, this.#run()]);
  }

  async stop(): Promise<void> {
    this.#closed.abort();
    for (const end of this.#ends.values()) end.abort();
    await this.#loop;
  }

  /** Where the claim or spool of a pod is on this machine. */
  dirOf = ({ metadata: { uid } }: KubeObject, mountPath: string): string =>
    join(this.#dir, uid, mountPath);

  async all(namespace: string): Promise<readonly KubeObject[]> {
    return (await this.#kube.list(PODS, { namespace, labelSelector: this.#label })).items;
  }

  /** As the kubelet of a node that has too little of something. */
  async evict(object: KubeObject): Promise<void> {
    const { namespace = '', name } = object.metadata;
    const [container] = (object['spec'] as PodSpec).containers;
    const lost = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' };
    const conditions = [{ ...lost, lastTransitionTime: AT }];
    const ended = { name: container?.name ?? '', exitCode: 137, message: '' };
    const containerStatuses = [statusOf(ended)];
    const status = { phase: 'Failed', reason: 'Evicted', conditions, containerStatuses };
    await this.#say({ namespace, name }, status);
  }

  async #run(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      try {
        for (const object of this.#there.all()) await this.#lookAt(object);
      } catch (error) {
        if (!isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) this.errors.push(error);
      }
      await systemClock.sleep(LOOK_EVERY_MS);
    }
  }

  async #lookAt(object: KubeObject): Promise<void> {
    const { name, namespace = '', uid, deletionTimestamp } = object.metadata;
    const spec = object['spec'] as PodSpec;
    const running = this.#ends.get(uid);
    if (deletionTimestamp !== undefined) {
      running?.abort();
      await this.#kube.delete(PODS, { name, namespace }, { uid }, { gracePeriodSeconds: 0 });
      return;
    }
    if (Object(object['status']).phase !== 'Pending' || running !== undefined) return;
    if (spec.nodeName === undefined) {
      const target = { apiVersion: 'v1', kind: 'Node', name: 'here' };
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target };
      await this.#kube.createSubresource(PODS, { name, namespace, subresource: 'binding' }, body);
      return;
    }
    if (this.isHeld || !(await this.#hasClaims(namespace, spec))) return;
    const missing = await this.#mount(object, spec);
    if (missing === undefined) this.#begin(object, spec);
    else await this.#warn(object, missing);
  }

  async #hasClaims(namespace: string, { volumes }: PodSpec): Promise<boolean> {
    if (this.#options.claimDir === undefined) return true;
    for (const { persistentVolumeClaim } of volumes) {
      if (persistentVolumeClaim === undefined) continue;
      const name = persistentVolumeClaim.claimName;
      const claim = await this.#kube.get(CLAIMS, { namespace, name });
      if (Object(claim?.['status']).phase !== 'Bound') return false;
    }
    return true;
  }

  /** Returns what lacks, in the words of a kubelet. */
  async #mount(object: KubeObject, spec: PodSpec): Promise<string | undefined> {
    const { namespace = '' } = object.metadata;
    const containers = [...(spec.initContainers ?? []), ...spec.containers];
    for (const { valueFrom } of containers.flatMap(({ env = [] }) => env)) {
      const { name, optional } = valueFrom.secretKeyRef;
      const secret = await this.#kube.get(core('secrets'), { namespace, name });
      if (secret === null && optional !== true) return `secret "${name}" not found`;
    }
    const mounts = containers.flatMap(({ volumeMounts }) => volumeMounts);
    for (const volume of spec.volumes) {
      const mountPath = mounts.find(({ name }) => name === volume.name)?.mountPath ?? '';
      const missing = await this.#mountOne(namespace, volume, this.dirOf(object, mountPath));
      if (missing !== undefined) return missing;
    }
    return undefined;
  }

  async #mountOne(namespace: string, volume: Volume, dir: string): Promise<string | undefined> {
    const { secret, configMap, persistentVolumeClaim: claim } = volume;
    if (claim !== undefined) {
      await mkdir(dirname(dir), { recursive: true });
      await rm(dir, { force: true });
      await symlink(await this.#disk(namespace, claim.claimName), dir);
      return undefined;
    }
    await mkdir(dir, { recursive: true });
    const wanted = secret === undefined ? configMap?.name : secret.secretName;
    if (wanted === undefined) return undefined;
    const ref = core(secret === undefined ? 'configmaps' : 'secrets');
    const found = await this.#kube.get(ref, { namespace, name: wanted });
    if (found === null && secret?.optional === true) return undefined;
    if (found === null) return `MountVolume.SetUp failed: ${ref.resource} "${wanted}" not found`;
    const data = (found['data'] ?? {}) as Record<string, string>;
    const items =
      (secret ?? configMap)?.items ?? Object.keys(data).map((key) => ({ key, path: key }));
    for (const { key, path } of items) {
      const text = data[key] ?? '';
      const bytes = secret === undefined ? text : Buffer.from(text, 'base64');
      await writeFile(join(dir, path), bytes);
    }
    return undefined;
  }

  async #disk(namespace: string, claim: string): Promise<string> {
    const { claimDir } = this.#options;
    if (claimDir !== undefined) return claimDir(namespace, claim);
    const own = join(this.#dir, 'claims', claim);
    await mkdir(own, { recursive: true });
    return own;
  }

  async #variables(namespace: string, { env = [] }: Container): Promise<Record<string, string>> {
    const variables: Record<string, string> = {};
    for (const { name, valueFrom } of env) {
      const { name: secret, key } = valueFrom.secretKeyRef;
      const found = await this.#kube.get(core('secrets'), { namespace, name: secret });
      const text = ((found?.['data'] ?? {}) as Record<string, string>)[key];
      if (text !== undefined) variables[name] = Buffer.from(text, 'base64').toString();
    }
    return variables;
  }

  #begin(object: KubeObject, spec: PodSpec): void {
    const { uid, name, namespace = '' } = object.metadata;
    const end = new AbortController();
    this.#ends.set(uid, end);
    const work = async (): Promise<void> => {
      await this.#say({ namespace, name }, { phase: 'Running' });
      const first = spec.initContainers ?? [];
      const ended: Ended[] = [];
      for (const container of [...first, ...spec.containers]) {
        const one = await this.#runOne(object, container, end.signal);
        await this.#options.between?.(join(this.#dir, uid));
        ended.push(one);
        if (one.exitCode !== 0) break;
        if (ended.length > first.length) continue;
        await this.#say({ namespace, name }, { initContainerStatuses: ended.map(statusOf) });
      }
      if (this.lost > 0) {
        this.lost -= 1;
        await this.evict(object);
        return;
      }
      const phase = ended.every(({ exitCode }) => exitCode === 0) ? 'Succeeded' : 'Failed';
      const statuses = ended.map(statusOf);
      const initContainerStatuses = statuses.slice(0, first.length);
      const containerStatuses = statuses.slice(first.length);
      await this.#say({ namespace, name }, { phase, initContainerStatuses, containerStatuses });
    };
    work().catch((error: unknown) => {
      if (!isKubeError(error, 'KUBE_NOT_FOUND')) this.errors.push(error);
    });
  }

  async #runOne(object: KubeObject, container: Container, signal: AbortSignal): Promise<Ended> {
    const { uid, namespace = '' } = object.metadata;
    const { name, image, terminationMessagePolicy } = container;
    const root = join(this.#dir, uid);
    const log = this.dirOf(object, '/dev/termination-log');
    await mkdir(dirname(log), { recursive: true });
    await rm(log, { force: true });
    const env = await this.#variables(namespace, container);
    const { programs, programsOf, hosts = {} } = this.#options;
    const program = { ...programs, ...programsOf?.[image] }[container.command.at(-1) ?? ''];
    if (program === undefined) throw new Error(`no image has ${container.command.join(' ')}`);
    const args = container.args.map((one) =>
      one.replaceAll('$$', () => '$').replace(/(^|=)\//, (_, before) => `${before}${root}/`),
    );
    const [command, all] = program.endsWith('.mjs')
      ? [process.execPath, [`--import=${NAMED_HOSTS}`, program, ...args]]
      : [program, args];
    const known = { ...env, HOSTS: JSON.stringify(hosts) };
    const child = spawn(command, all, { env: known, stdio: ['ignore', 'ignore', 'pipe'] });
    signal.addEventListener('abort', () => child.kill('SIGTERM'));
    const [[exitCode], words] = await Promise.all([
      once(child, 'exit') as Promise<[number]>,
      textOf(child.stderr),
    ]);
    const told = await readFile(log, 'utf8').catch(() => '');
    const isLogged = terminationMessagePolicy === 'FallbackToLogsOnError' && exitCode !== 0;
    const said = told === '' && isLogged ? words.slice(-LAST_WORDS_BYTES) : told;
    // Paths in a pod are its own.
    return { name, exitCode, message: this.retell(said.replaceAll(root, '')) };
  }

  async #say(at: { readonly namespace: string; readonly name: string }, status: object) {
    const body = { status };
    await this.#kube.patch(PODS, { ...at, subresource: 'status' }, { type: 'merge', body });
  }

  async #warn({ metadata }: KubeObject, message: string): Promise<void> {
    const { namespace = '', name, uid } = metadata;
    await this.#kube.create(core('events'), {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace, name: `${name}.mount` },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
      type: 'Warning',
      reason: 'FailedMount',
      message,
      lastTimestamp: AT,
    });
  }
}
