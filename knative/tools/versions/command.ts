// The answer of `npm run versions` to its arguments: the patches of the timeline's first step, as
// they are written, or held against what is there.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { askedFor, Stale } from '../generated.ts';
import { SERVED, servedPatches } from './served.ts';

export const USAGE = `\
usage: npm run versions [-- --check]

Writes v1beta1 of our kinds anew: knative/overlays/timeline/1-served/crds, from knative/crds and
the differences of the versions.

  --check  writes nothing; ends with 1 when a file is not as it would be written
  --help   this
`;

export async function answer(args: readonly string[], dir = SERVED): Promise<string> {
  const asked = askedFor(args);
  if (asked === 'help') return USAGE;
  if (asked === 'write') await mkdir(dir, { recursive: true });
  const written: string[] = [];
  for (const { name, text } of await servedPatches()) {
    const path = join(dir, name);
    if ((await textAt(path)) === text) continue;
    if (asked === 'check') {
      throw new Stale(`${name} is not as it would be: npm run versions writes it.`);
    }
    await writeFile(path, text);
    written.push(name);
  }
  return written.length === 0 ? 'All are as they should be.\n' : `Wrote ${written.join(', ')}.\n`;
}

async function textAt(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}
