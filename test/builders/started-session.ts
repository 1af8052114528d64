// `npm start` in a process of its own, and what it says.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { readPartsFile } from '../../knative/try/local/plane/parts-file.ts';
import { isPortTaken } from '../../knative/try/local/process/ports.ts';
import { pidsWithEnvironment } from '../../knative/try/local/process/proc.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** On two cores that other tests share; alone it takes five seconds. */
export const READY_TIMEOUT_MS = 180_000;
const POLL_MS = 20;

export interface Session {
  readonly process: ChildProcess;
  text(): string;
  /** Resolves with the first match in the output after `from`. */
  until(pattern: RegExp, timeoutMs: number, from?: number): Promise<RegExpExecArray>;
}

export function startSession(args: readonly string[]): Session {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more;
    });
  }
  const until = async (pattern: RegExp, timeoutMs: number, from = 0): Promise<RegExpExecArray> => {
    const match = (): RegExpExecArray => {
      const found = pattern.exec(text.slice(from));
      if (found === null) throw new Error(`no ${pattern} in time, only:\n${text}`);
      return found;
    };
    return vi.waitFor(match, { timeout: timeoutMs, interval: POLL_MS });
  };
  return { process: child, text: () => text, until };
}

/** Whatever became of it. */
export async function endSession(session: Session | undefined): Promise<void> {
  if (session?.process.exitCode !== null) return;
  session.process.kill('SIGINT');
  await once(session.process, 'close');
}

/** It is ended as by Ctrl-C, and no process, port or directory of it is left. */
export async function expectNothingLeft(session: Session, kubeconfig: string): Promise<void> {
  const dir = dirname(kubeconfig);
  const parts = await readPartsFile(dir);
  session.process.kill('SIGINT');
  const [code] = await once(session.process, 'close');
  expect(code).toBe(0);
  expect(session.text().trimEnd().endsWith('Nothing is left running.')).toBe(true);
  expect(await pidsWithEnvironment(`BALLAST_PLANE=${dir}`)).toEqual([]);
  const ports = parts.flatMap(({ url }) => (url === '' ? [] : [Number(new URL(url).port)]));
  expect(ports.length).toBeGreaterThan(3);
  expect(await Promise.all(ports.map(isPortTaken))).toEqual(ports.map(() => false));
  await expect(access(dir)).rejects.toThrow('ENOENT');
}
