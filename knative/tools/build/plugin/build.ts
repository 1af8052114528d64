// Builds kubectl ballast for this machine's architecture: the bundle, the executable, its archive
// and the manifest for krew. Before it counts, the executable has to run with nothing around it.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { assertPublished, NODE_BINARY } from '../../images/published-node.ts';
import { answer } from '../../kubectl-ballast/completion.ts';
import { buildInfo, inVersion } from '../build.ts';
import { type ArchivedFile, writeArchive } from './archive.ts';
import { bundlePlugin, PROGRAM } from './bundle.ts';
import { writeExecutable } from './executable.ts';
import { krewManifest, type Published } from './krew.ts';

const root = resolve(import.meta.dirname, '../../../..');

/** As Go calls what Node calls otherwise. */
const ARCHITECTURES: Readonly<Record<string, Published['arch']>> = { x64: 'amd64', arm64: 'arm64' };

/** Nobody can have a host by this name: who publishes the archive knows where. */
const NO_HOST = 'https://published.invalid';

/** Resolves with the directory. */
export async function buildPlugin(outDir = join(root, 'dist', PROGRAM)): Promise<string> {
  await inVersion(outDir, (workDir) => emitPlugin(workDir));
  return outDir;
}

export interface BuiltPlugin {
  /** Names of files in the directory. */
  readonly archive: string;
  readonly manifest: string;
  readonly bundle: string;
  /** The hash of the archive. */
  readonly sha256: string;
  /** The files that its code comes from, relative to the repository. */
  readonly sources: readonly string[];
}

/** Into an empty directory. `url` is where the archive will be. */
export async function emitPlugin(workDir: string, url = NO_HOST): Promise<BuiltPlugin> {
  const arch = ARCHITECTURES[process.arch];
  if (arch === undefined) throw new Error(`There is no Node for ${process.arch} to make it of.`);
  await assertPublished();
  const info = await buildInfo();
  const executable = join(workDir, PROGRAM);
  const { program, sources } = await bundlePlugin(root, workDir, info);
  await writeExecutable(NODE_BINARY, program, executable);
  await assertStandsAlone(executable, info.version);
  const archive = `${PROGRAM}-v${info.version}-linux-${arch}.tar.gz`;
  const sha256 = await writeArchive(filesOf(executable), join(workDir, archive));
  const uri = `${url}/${archive}`;
  const krew = krewManifest(info.version, [{ os: 'linux', arch, uri, sha256 }]);
  const manifest = 'ballast.yaml';
  await writeFile(join(workDir, manifest), stringify(krew));
  return { archive, manifest, bundle: basename(program), sha256, sources };
}

const filesOf = (executable: string): readonly ArchivedFile[] => [
  { path: PROGRAM, isExecutable: true, from: { host: executable } },
  { path: 'kubectl_complete-ballast', isExecutable: true, from: { text: answer(['kubectl'], '') } },
  { path: 'LICENSE', from: { host: join(root, 'LICENSE') } },
  { path: 'LICENSE.node', from: { host: resolve(NODE_BINARY, '../../LICENSE') } },
];

/** Without a Node that it could find, without a home, and in an empty directory. */
export async function assertStandsAlone(executable: string, version: string): Promise<void> {
  const cwd = await mkdtemp(join(tmpdir(), 'ballast-alone-'));
  const alone = { cwd, env: { PATH: cwd } };
  try {
    const { stdout } = await promisify(execFile)(executable, ['--version'], alone);
    if (stdout.startsWith(`${PROGRAM} ${version}`)) return;
    throw new Error(`${executable} --version said ${JSON.stringify(stdout)}.`);
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}
