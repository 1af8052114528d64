// Directories of running planes, marked with their owner. When the owner is gone, its reaper ends
// the processes and removes the directory; when that was killed too, the next start does.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pidNamespace, pidsWithEnvironment, startTimeTicks } from './proc.ts';
import { startReaper } from './start-reaper.ts';
import { userId } from './user-id.ts';

/** A plane is processes; a cluster is more, and whoever made it cleans up after it. */
export type RunKind = 'plane' | 'cluster';

export interface RunDirectory {
  readonly path: string;
  /** `NAME=value` for the environment of every process of this plane. */
  readonly mark: string;
  remove(): Promise<void>;
}

export interface Leftover {
  readonly path: string;
  readonly pids: readonly number[];
}

const MARK_NAME = 'BALLAST_PLANE';
const OWNER_FILE = 'owner';
/** Its presence says that nobody but the owner is to use the plane. */
const SCRATCH_FILE = 'scratch';

const REAPER = join(import.meta.dirname, 'reaper.ts');

const runRoot = (): string => join(tmpdir(), `ballast-${userId()}`);
export const markOf = (path: string): string => `${MARK_NAME}=${path}`;

export async function makeRunDirectory(
  kind: RunKind = 'plane',
  isScratch = false,
): Promise<RunDirectory> {
  await mkdir(runRoot(), { recursive: true, mode: 0o700 });
  // The owner's pid is in the name, so that a plane killed before it wrote its owner file is known
  // too.
  const path = await mkdtemp(join(runRoot(), `${kind}-${process.pid}-`));
  const reaper = kind === 'plane' ? startReaper(REAPER, path) : undefined;
  const remove = async (): Promise<void> => {
    await rm(path, { recursive: true, force: true });
    reaper?.dismiss();
  };
  try {
    if (isScratch) await writeFile(join(path, SCRATCH_FILE), '');
    await writeOwner(path);
  } catch (cause) {
    await remove();
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${runRoot()} takes no files (${why}): free space there, or set TMPDIR`, {
      cause,
    });
  }
  return { path, mark: markOf(path), remove };
}

/** For a directory that outlives its plane: refuses it while another starter that lives uses it. */
export async function claimDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  const owner = await ownerOf(path);
  if (owner !== undefined && owner.pid !== process.pid) {
    const isThere = (await startTimeTicks(owner.pid)) === owner.ticks;
    if (isThere)
      throw new Error(`${path} is used by the start with pid ${owner.pid}: end that one first`);
  }
  await writeOwner(path);
}

/** Kills every process of this starter's own planes: for somebody who does not want to wait. */
export async function killOwnPlanes(): Promise<void> {
  const names = await readdir(runRoot()).catch(() => []);
  const own = names.filter((name) => name.startsWith(`plane-${process.pid}-`));
  const pids = await Promise.all(
    own.map((name) => pidsWithEnvironment(markOf(join(runRoot(), name)))),
  );
  for (const pid of pids.flat()) endIfThere(pid);
}

async function writeOwner(path: string): Promise<void> {
  const ticks = await startTimeTicks(process.pid);
  await writeFile(join(path, OWNER_FILE), `${process.pid} ${ticks} ${await pidNamespace()}`);
}

interface Owner {
  readonly pid: number;
  readonly ticks: number;
  /** Where its pid counts. */
  readonly namespace: string | undefined;
}

/** Undefined before it is written. */
async function ownerOf(path: string): Promise<Owner | undefined> {
  const text = await readFile(join(path, OWNER_FILE), 'utf8').catch(() => '');
  const [pid, ticks, namespace] = text.split(' ');
  if (ticks === undefined) return undefined;
  return { pid: Number(pid), ticks: Number(ticks), namespace };
}

/**
 * Left out are those of another pid namespace, such as that of a container that shares this
 * directory: nobody here sees whether their starter lives.
 */
async function visible(paths: readonly string[]): Promise<readonly string[]> {
  const own = await pidNamespace();
  const owners = await Promise.all(paths.map(ownerOf));
  return paths.filter((_, at) => (owners[at]?.namespace ?? own) === own);
}

/** Ends what crashed starters left; safe to call from several starters at once. */
export async function sweepLeftovers(root = runRoot()): Promise<readonly Leftover[]> {
  const names = await readdir(root).catch((error: unknown) => {
    if (isAbsent(error)) return [];
    throw error;
  });
  const planes = names.filter((name) => name.startsWith('plane-')).map((name) => join(root, name));
  const swept = await Promise.all((await visible(planes)).map(sweepPlane));
  return swept.filter((leftover) => leftover !== undefined);
}

/** The directories of planes that run now, for commands that look for one. */
export async function livePlanes(): Promise<readonly string[]> {
  const alive = (await runDirectories('plane')).filter(({ isAlive }) => isAlive);
  return alive.map(({ path }) => path).filter((path) => !existsSync(join(path, SCRATCH_FILE)));
}

/** All that this starter can judge, and whether their starters live. */
export async function runDirectories(
  kind: RunKind,
): Promise<readonly { readonly path: string; readonly isAlive: boolean }[]> {
  const names = await readdir(runRoot()).catch(() => []);
  const named = names.filter((name) => name.startsWith(`${kind}-`));
  const paths = await visible(named.map((name) => join(runRoot(), name)));
  return Promise.all(paths.map(async (path) => ({ path, isAlive: await isOwnerAlive(path) })));
}

/** The pid of the starter. */
export const ownerPid = (path: string): number => Number(/-(\d+)-[^/]*$/.exec(path)?.[1]);

async function sweepPlane(path: string): Promise<Leftover | undefined> {
  return (await isOwnerAlive(path)) ? undefined : endPlane(path);
}

/** Ends its processes and removes its directory, whoever owns it. */
export async function endPlane(path: string): Promise<Leftover> {
  const pids = await pidsWithEnvironment(markOf(path));
  for (const pid of pids) endIfThere(pid);
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  return { path, pids };
}

async function isOwnerAlive(path: string): Promise<boolean> {
  const pid = ownerPid(path);
  const owner = await ownerOf(path);
  const ticks = await startTimeTicks(pid);
  if (ticks === undefined) return false;
  return owner === undefined || (owner.pid === pid && owner.ticks === ticks);
}

function endIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
