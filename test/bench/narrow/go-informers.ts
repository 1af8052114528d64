// A peer of P11 in Go: controller-runtime's cache on ConfigMaps and Secrets, built from its
// published module beside this file, in a process of its own.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const moduleDir = join(import.meta.dirname, 'controller-runtime');
const outDir = join(import.meta.dirname, '../../../dist/bench');

/** The path of the binary. Needs Go, and for the first time the modules. */
export async function buildGoInformers(): Promise<string> {
  const binary = join(outDir, 'controller-runtime-cache');
  await mkdir(outDir, { recursive: true });
  const env = { ...process.env, GOWORK: 'off', CGO_ENABLED: '0' };
  try {
    const args = ['build', '-mod=readonly', '-o', binary, '.'];
    await promisify(execFile)('go', args, { cwd: moduleDir, env });
  } catch (cause) {
    const message = 'P11 needs Go, to build controller-runtime from its module: install it.';
    throw new Error(message, { cause });
  }
  return binary;
}

export class GoInformers {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>) {
    this.#process = child;
    this.#lines = lines;
  }

  static async start(binary: string, kubeconfigPath: string): Promise<GoInformers> {
    const child = spawn(binary, [kubeconfigPath], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const informers = new GoInformers(child, lines);
    await informers.#heard('ready');
    return informers;
  }

  get pid(): number {
    const { pid } = this.#process;
    if (pid === undefined) throw new Error('the informers did not start');
    return pid;
  }

  /** Resolves when the object has this value, and so many objects or more are held. */
  async until(name: string, turn: string, objects: number): Promise<void> {
    this.#process.stdin?.write(`${name} ${turn} ${objects}\n`);
    await this.#heard('seen');
  }

  async end(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }

  async #heard(word: string): Promise<void> {
    const { value, done } = await this.#lines.next();
    if (done === true || value !== word)
      throw new Error(`the informers said ${value ?? 'no more'}`);
  }
}
