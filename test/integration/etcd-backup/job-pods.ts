// Plays the scheduler and the kubelet for pods of backups: the program runs as a process with the
// pod's files in a directory of its own, and what it says at its end goes into the pod's status. A
// pod may be held before its program starts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemClock } from '../../../shared/clock.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { PODS } from '../../../shared/stateful/parts.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const LOOK_EVERY_MS = 50;
/** So long ago that a Job does not wait before it tries again. */
const AT = '2026-11-25T04:00:00Z';

interface Reference {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

interface PodSpec {
  readonly nodeName?: string;
  readonly containers: readonly [
    {
      readonly name: string;
      readonly args: readonly string[];
      readonly env?: readonly {
        readonly name: string;
        readonly valueFrom: { readonly secretKeyRef: Reference };
      }[];
      readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
    },
  ];
  readonly volumes: readonly {
    readonly name: string;
    readonly secret?: { readonly secretName: string; readonly items?: readonly Item[] };
    readonly configMap?: { readonly name: string; readonly items: readonly Item[] };
    readonly persistentVolumeClaim?: { readonly claimName: string };
  }[];
}

interface Item {
  readonly key: string;
  readonly path: string;
}

const ended = (exitCode: number, message: string): object => ({
  name: 'backup',
  image: '',
  imageID: '',
  restartCount: 0,
  ready: false,
  state: { terminated: { exitCode, message, reason: 'Ended', startedAt: AT, finishedAt: AT } },
});

export class JobPods {
  /** As it is told by the pod. */
  retell: (message: string) => string = (message) => message;
  /** No program starts. */
  isHeld = false;
  /** So many pods are lost with their node when they end, and nobody hears how. */
  lost = 0;
  readonly errors: unknown[] = [];
  readonly #kube: KubeClient;
  readonly #bundle: string;
  readonly #dir: string;
  readonly #ends = new Map<string, AbortController>();
  readonly #closed = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(kube: KubeClient, bundle: string, dir: string) {
    this.#kube = kube;
    this.#bundle = bundle;
    this.#dir = dir;
  }

  start(): void {
    this.#loop = this.#run();
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
    const labelSelector = 'ballast.dev/etcd-backup';
    return (await this.#kube.list(PODS, { namespace, labelSelector })).items;
  }

  /** As the kubelet of a node that has too little of something. */
  async evict({ metadata: { namespace = '', name } }: KubeObject): Promise<void> {
    const lost = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' };
    const conditions = [{ ...lost, lastTransitionTime: AT }];
    const containerStatuses = [ended(137, '')];
    const status = { phase: 'Failed', reason: 'Evicted', conditions, containerStatuses };
    await this.#say({ namespace, name }, status);
  }

  async #run(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      try {
        const { items } = await this.#kube.list(PODS, { labelSelector: 'ballast.dev/etcd-backup' });
        for (const object of items) await this.#lookAt(object);
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
    if (this.isHeld) return;
    const missing = await this.#mount(object, spec);
    if (missing === undefined) this.#begin(object, spec, await this.#variables(object, spec));
    else await this.#warn(object, missing);
  }

  /** Returns what lacks, in the words of a kubelet. */
  async #mount(object: KubeObject, spec: PodSpec): Promise<string | undefined> {
    const { namespace = '' } = object.metadata;
    const [{ volumeMounts, env = [] }] = spec.containers;
    for (const { valueFrom } of env) {
      const { name, optional } = valueFrom.secretKeyRef;
      const secret = await this.#kube.get(core('secrets'), { namespace, name });
      if (secret === null && optional !== true) return `secret "${name}" not found`;
    }
    for (const { name, secret, configMap, persistentVolumeClaim } of spec.volumes) {
      const mountPath = volumeMounts.find((one) => one.name === name)?.mountPath ?? '';
      const dir = this.dirOf(object, mountPath);
      if (persistentVolumeClaim !== undefined) {
        const disk = join(this.#dir, 'claims', persistentVolumeClaim.claimName);
        await mkdir(disk, { recursive: true });
        await mkdir(dirname(dir), { recursive: true });
        await symlink(disk, dir);
        continue;
      }
      await mkdir(dir, { recursive: true });
      const wanted = secret === undefined ? configMap?.name : secret.secretName;
      if (wanted === undefined) continue;
      const ref = core(secret === undefined ? 'configmaps' : 'secrets');
      const found = await this.#kube.get(ref, { namespace, name: wanted });
      if (found === null) return `MountVolume.SetUp failed: ${ref.resource} "${wanted}" not found`;
      const data = (found['data'] ?? {}) as Record<string, string>;
      const items =
        (secret ?? configMap)?.items ?? Object.keys(data).map((key) => ({ key, path: key }));
      for (const { key, path } of items) {
        const text = data[key] ?? '';
        const bytes = secret === undefined ? text : Buffer.from(text, 'base64');
        await writeFile(join(dir, path), bytes);
      }
    }
    return undefined;
  }

  async #variables(object: KubeObject, spec: PodSpec): Promise<Record<string, string>> {
    const { namespace = '' } = object.metadata;
    const variables: Record<string, string> = {};
    for (const { name, valueFrom } of spec.containers[0].env ?? []) {
      const { name: secret, key } = valueFrom.secretKeyRef;
      const found = await this.#kube.get(core('secrets'), { namespace, name: secret });
      const text = ((found?.['data'] ?? {}) as Record<string, string>)[key];
      if (text !== undefined) variables[name] = Buffer.from(text, 'base64').toString();
    }
    return variables;
  }

  #begin(object: KubeObject, spec: PodSpec, env: Record<string, string>): void {
    const { uid, name, namespace = '' } = object.metadata;
    const end = new AbortController();
    this.#ends.set(uid, end);
    const work = async (): Promise<void> => {
      const log = this.dirOf(object, '/dev/termination-log');
      await mkdir(dirname(log), { recursive: true });
      await this.#say({ namespace, name }, { phase: 'Running' });
      const args = spec.containers[0].args.map((one) =>
        one.replaceAll('$$', () => '$').replace(/=\//, () => `=${join(this.#dir, uid)}/`),
      );
      const child = spawn(process.execPath, [this.#bundle, ...args], { env, stdio: 'ignore' });
      end.signal.addEventListener('abort', () => child.kill('SIGTERM'));
      const [exitCode] = (await once(child, 'exit')) as [number];
      if (this.lost > 0) {
        this.lost -= 1;
        await this.evict(object);
        return;
      }
      const said = await readFile(log, 'utf8').catch(() => '');
      // Paths in a pod are its own.
      const message = this.retell(said.replaceAll(join(this.#dir, uid), ''));
      const phase = exitCode === 0 ? 'Succeeded' : 'Failed';
      await this.#say(
        { namespace, name },
        { phase, containerStatuses: [ended(exitCode, message)] },
      );
    };
    work().catch((error: unknown) => {
      if (!isKubeError(error, 'KUBE_NOT_FOUND')) this.errors.push(error);
    });
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
