// The shared libraries that a program of this machine loads, with the loader, as files of an image
// at the same places. Asks `ldd`, since the loader itself knows its search path best.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ImageFile } from './spec.ts';

/** Empty for a static program. Only for programs that may be trusted: ldd may run what it reads. */
export async function librariesOf(program: string): Promise<ImageFile[]> {
  const said = await ldd(program);
  const missing = /^\s*(\S+) => not found/m.exec(said)?.[1];
  if (missing !== undefined)
    throw new Error(`${program} needs ${missing}, which this machine does not have; install it.`);
  // `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)`, and the loader without an arrow.
  const paths = [...said.matchAll(/(?:=>\s+|^\s+)(\/\S+) \(0x/gm)].map(([, path = '']) => path);
  return [...new Set(paths)].map((path) => ({ path, mode: 0o755, from: { host: path } }));
}

async function ldd(program: string): Promise<string> {
  try {
    // Messages are read, so in one language.
    const { stdout } = await promisify(execFile)('ldd', [program], { env: { LC_ALL: 'C' } });
    return stdout;
  } catch (error) {
    if (error instanceof Error && /not a dynamic executable/.test(error.message)) return '';
    throw new Error(`ldd cannot tell the libraries of ${program}.`, { cause: error });
  }
}
