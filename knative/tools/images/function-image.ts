// The image of one function: Node and its libraries as the layer that all functions share, its
// bundle as the one above. Nothing else: no shell, no package manager, no certificates (Node has
// its own, the API server's come with the pod).
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { filesBelow } from './layer.ts';
import { PATH, programFiles } from './program.ts';
import { assertPublished, NODE_BINARY } from './published-node.ts';
import type { ImageFile, ImageSpec } from './spec.ts';

const APP = '/app';
/** The threads of a program share what they free: it takes a tenth less memory. */
export const MALLOC = { MALLOC_ARENA_MAX: '1' } as const;

/** Their Jobs run these commands in pods of the same image. */
const RUN_BY_JOBS = ['/app/etcd-backup.mjs', '/app/etcd-restore.mjs'];

/** Whether the image of a function has its command, too. */
export const hasCommand = (name: string): boolean => RUN_BY_JOBS.includes(`${APP}/${name}.mjs`);

/**
 * Files of a build that stay out of the image. Commands but those are for machines, not for
 * pods. Node looks for a code cache by the features of the processor and the number of the user,
 * so a shipped one would be found on few machines, and make every build's bits its own. It saves
 * 4 ms (docs/images.md).
 */
const LEFT_OUT = /^(compile-cache\/|[^/]+\.mjs$)/;

export interface FunctionImage {
  /** The function's own name. */
  readonly name: string;
  /** Repository and tag of the image. */
  readonly image: string;
  readonly purpose: string;
  readonly version: string;
  /** Empty when nobody knows. */
  readonly commit: string;
  /** Where its bundle is. */
  readonly bundleDir: string;
}

export async function functionSpec(of: FunctionImage): Promise<ImageSpec> {
  return {
    name: of.image,
    base: await nodeFiles(),
    files: await bundleFiles(of.bundleDir),
    entrypoint: [`${PATH}/node`, `${APP}/index.js`],
    workingDir: APP,
    env: { PATH, ...MALLOC },
    labels: {
      'org.opencontainers.image.title': of.name,
      'org.opencontainers.image.description': of.purpose,
      'org.opencontainers.image.version': of.version,
      'org.opencontainers.image.licenses': 'Apache-2.0',
      ...(of.commit === '' ? {} : { 'org.opencontainers.image.revision': of.commit }),
    },
  };
}

async function bundleFiles(bundleDir: string): Promise<ImageFile[]> {
  const files = await filesBelow(bundleDir, APP);
  return files.filter(
    ({ path }) => RUN_BY_JOBS.includes(path) || !LEFT_OUT.test(path.slice(APP.length + 1)),
  );
}

let nodeFilesOnce: Promise<ImageFile[]> | undefined;

/** Looked for once: all functions have the same. */
function nodeFiles(): Promise<ImageFile[]> {
  nodeFilesOnce ??= Promise.all([assertPublished(), assertNamesResolve()]).then(() =>
    programFiles(NODE_BINARY, 'node'),
  );
  return nodeFilesOnce;
}

/** Since this version, glibc looks names up without libraries or files that nothing points at. */
const GLIBC_WANTED = [2, 34] as const;

async function assertNamesResolve(): Promise<void> {
  const script = 'process.report.getReport().header.glibcVersionRuntime ?? ""';
  const { stdout } = await promisify(execFile)(NODE_BINARY, ['-p', script]);
  const [major = 0, minor = 0] = stdout.trim().split('.').map(Number);
  if (major > GLIBC_WANTED[0] || (major === GLIBC_WANTED[0] && minor >= GLIBC_WANTED[1])) return;
  const wanted = GLIBC_WANTED.join('.');
  throw new Error(
    `This machine has glibc ${stdout.trim()}, with which a function in an image could look up no ` +
      `name; build on one with ${wanted} or later, such as Debian 12, or with the Dockerfile.`,
  );
}
