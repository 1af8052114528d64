// The real kubectl against one cluster, with a home of its own.
import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';

/** An apply of all that we ship took longer than a minute where others had the processors. */
const TIMEOUT_MS = 150_000;

export interface Forward {
  readonly url: string;
  stop(): void;
}

export class Kubectl {
  readonly #binary: string;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(binary: string, env: Readonly<Record<string, string>>) {
    this.#binary = binary;
    this.#env = env;
  }

  /** `home` is where it may keep its cache. */
  static async at(kubeconfig: string, home: string): Promise<Kubectl> {
    return new Kubectl(await resolvePart('kubectl'), { KUBECONFIG: kubeconfig, HOME: home });
  }

  /** Resolves with what it printed, without the last line's end. */
  async run(...args: readonly string[]): Promise<string> {
    const options = { env: this.#env, timeout: TIMEOUT_MS };
    const { stdout } = await promisify(execFile)(this.#binary, [...args], options);
    return stdout.trimEnd();
  }

  async apply(...objects: readonly object[]): Promise<void> {
    const child = spawn(this.#binary, ['apply', '-f', '-'], {
      env: this.#env,
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    child.stdin.end(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    if (code !== 0) throw new Error(said);
  }

  /** To one of its ports. */
  async forward(namespace: string, pod: string, port: number): Promise<Forward> {
    const args = ['-n', namespace, 'port-forward', `pod/${pod}`, `:${port}`];
    const child = spawn(this.#binary, args, {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface(child.stdout)) {
      const [, here] = /127[.]0[.]0[.]1:(\d+)/.exec(line) ?? [];
      if (here === undefined) continue;
      return { url: `http://127.0.0.1:${here}`, stop: () => void child.kill('SIGKILL') };
    }
    throw new Error(`nothing is forwarded to pod ${namespace}/${pod}`);
  }
}
