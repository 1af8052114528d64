// Images of one program of this machine, with the libraries that it loads: Node for the functions,
// and the servers that a cluster of ours runs.
import { basename } from 'node:path';
import { librariesOf } from './libraries.ts';
import type { ImageFile, ImageSpec } from './spec.ts';

const PROGRAM_MODE = 0o755;

export const PATH = '/usr/bin';

export async function programFiles(
  binary: string,
  name = basename(binary),
  directory = PATH,
): Promise<ImageFile[]> {
  const program = { path: `${directory}/${name}`, mode: PROGRAM_MODE, from: { host: binary } };
  return [program, ...(await librariesOf(binary))];
}

export interface Program {
  /** Repository and tag of the image. */
  readonly image: string;
  /** On this machine. */
  readonly binary: string;
  /** Its name in the image; as on this machine when absent. */
  readonly name?: string;
  /** Where it is in the image. */
  readonly directory?: string;
  readonly arguments?: readonly string[];
  /** Beside `PATH`. */
  readonly env?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

/** It starts from a read-only root as nobody in particular; what it writes needs a volume. */
export async function programSpec(program: Program): Promise<ImageSpec> {
  const { image, binary, name = basename(binary), arguments: args, env, labels } = program;
  const { directory = PATH } = program;
  return {
    name: image,
    files: await programFiles(binary, name, directory),
    entrypoint: [`${directory}/${name}`],
    env: { ...env, PATH: directory },
    ...(args === undefined ? {} : { arguments: args }),
    ...(labels === undefined ? {} : { labels }),
  };
}
