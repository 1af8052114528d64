// An image as a node would run it, without an engine: its layers one over the other, started in a
// namespace of its own, from a read-only root, as the image's user.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd?: readonly string[];
  readonly WorkingDir: string;
}

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string }[];
}

export interface Unpacked {
  readonly root: string;
  readonly config: ImageConfig;
}

export function unpack(layout: string, root: string): Unpacked {
  const blob = (digest: string): string => join(layout, 'blobs', ...digest.split(':'));
  const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
  const { manifests } = read(join(layout, 'index.json')) as { manifests: { digest: string }[] };
  const { config, layers } = read(blob(manifests[0]?.digest ?? '')) as Manifest;
  mkdirSync(root, { recursive: true });
  for (const { digest } of layers)
    execFileSync('tar', ['-xpf', blob(digest), '-C', root, '--no-same-owner']);
  return { root, config: (read(blob(config.digest)) as { config: ImageConfig }).config };
}

const ENTER = `
set -e
mount --bind "$ROOT" "$ROOT"
mount -o remount,ro,bind "$ROOT"
exec chroot "$@"
`;

export function start(
  { root, config }: Unpacked,
  env: Readonly<Record<string, string>>,
  command: readonly string[] = config.Entrypoint,
): ChildProcess {
  const own = config.Env.map((line) => line.split('='));
  // The image's PATH has no mount and no chroot; nothing in it looks for a program. They are for
  // administrators, so that the PATH of others lacks them.
  const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;
  const { unshare, chroot } = process.getuid?.() === 0 ? asRoot(config) : asAnybody(config);
  const enter = ['sh', '-c', ENTER, 'enter', ...chroot, root, ...command];
  return spawn('unshare', ['--mount', ...unshare, ...enter], {
    env: { ...Object.fromEntries(own), ...env, ROOT: root, PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

interface Way {
  readonly unshare: readonly string[];
  readonly chroot: readonly string[];
}

const asRoot = ({ User }: ImageConfig): Way => ({
  unshare: [],
  chroot: [`--userspec=${User}`, '--groups='],
});

/** A user namespace lends the number, though files are still read as whoever runs the tests. */
function asAnybody({ User }: ImageConfig): Way {
  const [user = '', group = ''] = User.split(':');
  const mapped = [`--map-user=${user}`, `--map-group=${group}`];
  return { unshare: ['--user', ...mapped, '--keep-caps'], chroot: [] };
}
