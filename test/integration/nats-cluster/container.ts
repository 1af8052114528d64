// One pod's container as a real process: nats-server or etcd in a root directory of its own, with
// the pod's files, environment and volumes in their places, on a loopback address of its own.
import { execFile } from 'node:child_process';
import { link, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Plane } from '../../../knative/try/local/plane/plane.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import { giveTo, rooted } from '../../builders/rooted.ts';
import type { ContainerSpec, PodSpec } from './pod-spec.ts';

const run = promisify(execFile);

/** As much of a log as the kubelet keeps for the last words of a container. */
const LAST_LINES = 80;
const LAST_WORDS_BYTES = 2_048;

export interface Ended {
  readonly exitCode: number;
  readonly restarts: number;
  readonly message: string;
}

/** As the kubelet mounts it: file by name. */
export type Files = Readonly<Record<string, string>>;

export interface ContainerOptions {
  readonly plane: Plane;
  /** The pod's own directory: gone with it. */
  readonly root: string;
  readonly podName: string;
  readonly ip: string;
  readonly spec: PodSpec;
  /** The program of the image. */
  readonly binary: string;
  /** A value of a Secret as it is now; undefined while there is none. */
  readonly secretValue: (name: string, key: string) => Promise<string | undefined>;
  /** Where the claim's data is while no pod has it. */
  readonly claimDir: string | undefined;
}

/** Beside the address that others reach: nobody knows it. */
const loopbackOf = (ip: string): string => ip.replace(/\d+$/, (last) => `${Number(last) + 128}`);

export class Container {
  readonly #options: ContainerOptions;
  #part: Part | undefined;
  #starts = 0;
  #filesVersion = 0;
  #variables: ReadonlyMap<string, string> = new Map();

  constructor(options: ContainerOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#part?.pid !== undefined;
  }

  get starts(): number {
    return this.#starts;
  }

  /** How it ended by itself, for its pod's status; undefined while it runs, and after a kill. */
  get ended(): Ended | undefined {
    const code = /^exit code (\d+)$/.exec(this.#part?.ending ?? '')?.[1];
    if (this.isRunning || code === undefined || code === '0') return undefined;
    const { terminationMessagePolicy } = this.#container;
    const lines = terminationMessagePolicy === 'FallbackToLogsOnError' ? LAST_LINES : 0;
    const words = lines === 0 ? '' : (this.#part?.lastLines(lines).join('\n') ?? '');
    const message = Buffer.from(words).subarray(-LAST_WORDS_BYTES).toString();
    return { exitCode: Number(code), restarts: this.#starts - 1, message };
  }

  get #container(): ContainerSpec {
    return this.#options.spec.containers[0];
  }

  /**
   * The loopback's own address, from which connections to other pods come here. etcd holds it
   * against the names in a certificate; NATS would choose it among the addresses of a route.
   */
  get comesFrom(): readonly string[] {
    return this.#isNats ? [] : ['127.0.0.1'];
  }

  get #isNats(): boolean {
    return this.#program.endsWith('nats-server');
  }

  /** Where its image has it: by its path, or on the PATH. */
  get #program(): string {
    const [command = ''] = this.#container.command;
    return command.startsWith('/') ? command : `/bin/${command}`;
  }

  #mountOf(volume: string): string {
    const found = this.#container.volumeMounts.find(({ name }) => name === volume);
    if (found === undefined) throw new Error(`volume ${volume} is mounted nowhere`);
    return join(this.#options.root, found.mountPath);
  }

  async prepare(): Promise<void> {
    const { root, spec, binary, claimDir } = this.#options;
    const uid = spec.securityContext.runAsUser;
    const program = join(root, this.#program);
    await mkdir(join(program, '..'), { recursive: true });
    await mkdir(join(root, 'etc'), { recursive: true });
    await link(binary, program);
    for (const { name, emptyDir, persistentVolumeClaim } of spec.volumes) {
      const at = this.#mountOf(name);
      await mkdir(join(at, '..'), { recursive: true });
      if (persistentVolumeClaim !== undefined && claimDir !== undefined) await rename(claimDir, at);
      else await mkdir(at, { recursive: true });
      if (emptyDir !== undefined || persistentVolumeClaim !== undefined) await giveTo(uid, at);
    }
  }

  /** All at once, as the kubelet does: by turning a link to another directory. */
  async mountFiles(volume: string, files: Files): Promise<void> {
    const at = this.#mountOf(volume);
    this.#filesVersion += 1;
    const version = `..${this.#filesVersion}`;
    await mkdir(join(at, version));
    for (const [name, text] of Object.entries(files))
      await writeFile(join(at, version, name), text);
    await symlink(version, join(at, '..next'));
    await rename(join(at, '..next'), join(at, '..data'));
    for (const name of Object.keys(files)) {
      await symlink(join('..data', name), join(at, name)).catch(() => undefined);
    }
    await rm(join(at, `..${this.#filesVersion - 1}`), { recursive: true, force: true });
  }

  async writeHosts(text: string): Promise<void> {
    await writeFile(join(this.#options.root, 'etc', 'hosts'), text);
  }

  /** As the kubelet, it reads variables anew each time, and starts nothing while one is missing. */
  async start(): Promise<void> {
    const { plane, podName, ip, root, spec } = this.#options;
    const variables = await this.#readVariables();
    if (variables === undefined) return;
    this.#variables = variables;
    this.#starts += 1;
    this.#part = await plane.add({
      name: `${podName} ${root.slice(-6)} start ${this.#starts}`,
      ...rooted(root, spec.securityContext.runAsUser, [this.#program, ...(await this.#argsAt(ip))]),
      env: Object.fromEntries(this.#variables),
      url: '',
      ready: async () => true,
    });
  }

  /** A pod has a network of its own; here all share one, so each is told which address is its. */
  async #argsAt(ip: string): Promise<readonly string[]> {
    const args = this.#container.args.map((one) => this.#expanded(one));
    return this.#isNats
      ? [...args, ...(await this.#natsAddress(ip))]
      : args.map((one) =>
          one.replaceAll('0.0.0.0', ip).replaceAll('//127.0.0.1:', `//${loopbackOf(ip)}:`),
        );
  }

  /** `$(NAME)` stands for a variable of the container's, as in any pod. */
  #expanded(text: string): string {
    return [...this.#variables].reduce(
      (done, [name, value]) => done.replaceAll(`$(${name})`, value),
      text,
    );
  }

  /** Those without a value name the pod. */
  async #readVariables(): Promise<ReadonlyMap<string, string> | undefined> {
    const { podName, secretValue } = this.#options;
    const found = new Map<string, string>();
    for (const { name, value = podName, valueFrom } of this.#container.env ?? []) {
      const { secretKeyRef: from } = valueFrom ?? {};
      const now = from === undefined ? value : await secretValue(from.name, from.key);
      if (now === undefined) return undefined;
      found.set(name, now);
    }
    return found;
  }

  async #natsAddress(ip: string): Promise<readonly string[]> {
    const text = await readFile(join(this.#mountOf('config'), 'nats.conf'), 'utf8');
    const line = /^cluster: (.*)$/m.exec(text)?.[1];
    if (line === undefined) return [`--addr=${ip}`];
    const { authorization, port } = JSON.parse(line) as {
      readonly authorization: { readonly user: string; readonly password: string };
      readonly port: number;
    };
    const { user, password } = authorization;
    return [`--addr=${ip}`, `--cluster_listen=nats://${user}:${password}@${ip}:${port}`];
  }

  /** As its readiness probe sees it. */
  async isReady(): Promise<boolean> {
    const { ports, readinessProbe } = this.#container;
    const { port: named } = readinessProbe.httpGet;
    const port = ports.find(({ name }) => name === named)?.containerPort;
    const url = `http://${this.#options.ip}:${port}${readinessProbe.httpGet.path}`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
    await answer?.text();
    return answer?.ok === true;
  }

  /** Beside what runs in it. */
  async exec([program = '', ...args]: readonly string[]): Promise<void> {
    const { root, spec } = this.#options;
    const inside = rooted(root, spec.securityContext.runAsUser, [`/bin/${program}`, ...args]);
    await run(inside.command, [...inside.args]);
  }

  /** Its preStop hook, then SIGTERM, and SIGKILL when the grace is over. */
  async end(graceMs: number): Promise<void> {
    const hook = this.#container.lifecycle?.preStop.exec.command;
    if (this.isRunning && hook !== undefined) await this.exec(hook).catch(() => undefined);
    this.#terminate();
    const gone = this.#gone();
    const late = setTimeout(() => void this.#part?.kill(), graceMs);
    await gone;
    clearTimeout(late);
  }

  #terminate(): void {
    const pid = this.#part?.pid;
    try {
      if (pid !== undefined) process.kill(pid, 'SIGTERM');
    } catch (error) {
      // The hook was enough.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }

  async kill(): Promise<void> {
    await this.#part?.kill();
  }

  async #gone(): Promise<void> {
    const { until } = await import('../../builders/versioned-kind.ts');
    await until('the container to end', () => !this.isRunning, 600_000);
  }

  /** The claim's data goes back to where it was; the rest is gone. */
  async remove(): Promise<void> {
    const { root, claimDir, spec } = this.#options;
    const claim = spec.volumes.find((one) => one.persistentVolumeClaim !== undefined);
    if (claim !== undefined && claimDir !== undefined) {
      await rename(this.#mountOf(claim.name), claimDir);
    }
    await rm(root, { recursive: true, force: true });
  }
}
