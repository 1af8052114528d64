// The part of the command that answers `--against`: opens what it is to read, has a scratch server
// started where there is one, and ends both.
import { openEtcd } from '../../../shared/etcd/client.ts';
import { openSnapshot, type Snapshot } from '../../../shared/etcd/snapshot/snapshot.ts';
import type { AuditOptions } from '../audit.ts';
import { withCopy } from '../copy.ts';
import type { Against, Source } from '../options.ts';
import { type AgainstAnswer, auditAgainst, type ScratchOrNot } from './against.ts';
import { KubeWorld } from './kube-world.ts';
import { type Input, readCrds } from './manifests.ts';
import { Scratch, type StartScratch } from './scratch.ts';
import { StoredWorld } from './stored-world.ts';
import type { World } from './world.ts';

export interface Surroundings {
  readonly stdin: Input;
  /** Undefined where no parts are to start one from. */
  readonly startScratch: StartScratch | undefined;
}

export async function answerAgainst(
  { paths, scratchPath }: Against,
  source: Source,
  options: AuditOptions,
  { stdin, startScratch }: Surroundings,
): Promise<AgainstAnswer> {
  const crds = await readCrds(paths, stdin);
  const start = scratchPath === undefined ? startScratch : namedScratch(scratchPath);
  return withWorld(source, options, async (world) => {
    const scratch = await openScratch(start, scratchPath !== undefined, options.signal);
    try {
      return await auditAgainst(crds, world, scratch, options);
    } finally {
      if (!('lacks' in scratch)) await scratch.close();
    }
  });
}

/** One that somebody named is ours to write to, and not to end. */
const namedScratch =
  (kubeconfigPath: string): StartScratch =>
  () =>
    Promise.resolve({ kubeconfigPath, isOurs: false, close: () => Promise.resolve() });

async function openScratch(
  start: StartScratch | undefined,
  isNamed: boolean,
  signal: AbortSignal | undefined,
): Promise<ScratchOrNot> {
  if (start === undefined) {
    return { lacks: 'none was named: --scratch names an API server that may be written to' };
  }
  try {
    return await Scratch.open(await start(signal), signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (isNamed) throw error;
    const why = error instanceof Error ? error.message : String(error);
    return { lacks: `none could be started (${why})` };
  }
}

async function withWorld(
  source: Source,
  options: AuditOptions,
  use: (world: World) => Promise<AgainstAnswer>,
): Promise<AgainstAnswer> {
  if (source.kind === 'kube') {
    const world = new KubeWorld(source.kubeconfigPath, options.signal);
    try {
      return await use(world);
    } finally {
      await world.close();
    }
  }
  if (source.kind === 's3' || source.kind === 'file') {
    if (source.kind === 's3' || source.keyPath !== undefined) {
      return withCopy(source, options, (name, open) => use(snapshotWorld(name, open, options)));
    }
    const { assertNotSealed } = await import('../../../shared/sealed/arrival.ts');
    await assertNotSealed(source.path);
    return use(worldOfFile(source.path, options));
  }
  const etcd = openEtcd(source.address);
  const { signal } = options;
  try {
    if (source.savePath !== undefined) {
      await etcd.save(source.savePath, options);
      return await use(worldOfFile(source.savePath, options));
    }
    const revision = await etcd.revision(signal);
    const open = (under: readonly string[]) => {
      const entries = etcd.entries(under, { revision, signal });
      return { entries, isUnhashed: false, revision: () => revision };
    };
    return await use(new StoredWorld(etcd.endpoints.join(', '), { ...options, open }));
  } finally {
    await etcd.close();
  }
}

const worldOfFile = (path: string, options: AuditOptions): World =>
  snapshotWorld(path, () => openSnapshot(path, { signal: options.signal }), options);

function snapshotWorld(name: string, openAnew: () => Snapshot, options: AuditOptions): World {
  const open = () => {
    const snapshot = openAnew();
    const { facts } = snapshot;
    const revision = (): string => `${facts.revision}`;
    return { entries: snapshot.entries(), isUnhashed: !facts.hasDigest, revision };
  };
  return new StoredWorld(name, { ...options, open });
}
