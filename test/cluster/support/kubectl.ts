// The real kubectl against one cluster, with a home of its own.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';

const TIMEOUT_MS = 60_000;

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

  /** Stays until it is killed. */
  spawn(...args: readonly string[]): ChildProcess {
    return spawn(this.#binary, [...args], { env: this.#env, stdio: ['ignore', 'pipe', 'inherit'] });
  }
}
