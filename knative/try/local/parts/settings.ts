// All that the environment says about finding and building parts, read once.
import { homedir, hostname } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

export interface PartsSettings {
  /**
   * Directories that the environment names, with the variable that named them; binaries there are
   * taken as they are.
   */
  readonly namedDirs: readonly NamedDir[];
  readonly pathDirs: readonly string[];
  readonly cacheDir: string;
  /** As Go writes it: `linux/amd64`. */
  readonly platform: string;
  readonly host: string;
  /** Run by vitest, whose bounds no build keeps. */
  readonly isTest: boolean;
  /** The environment that Go gets: the user's own, with what makes a build the same everywhere. */
  readonly goEnv: Readonly<Record<string, string | undefined>>;
}

export interface NamedDir {
  readonly variable: 'BALLAST_PARTS' | 'KUBEBUILDER_ASSETS';
  readonly dir: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const GO_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

export function partsSettings(env: Environment = process.env): PartsSettings {
  const goos = process.platform;
  const goarch = GO_ARCHITECTURES[process.arch] ?? process.arch;
  return {
    namedDirs: (['BALLAST_PARTS', 'KUBEBUILDER_ASSETS'] as const).flatMap((variable) => {
      const dir = env[variable];
      return dir === undefined || dir === '' ? [] : [{ variable, dir: resolve(dir) }];
    }),
    // An entry that is not absolute would mean another binary in every directory.
    pathDirs: (env['PATH'] ?? '').split(delimiter).filter((dir) => isAbsolute(dir)),
    cacheDir: join(cacheHome(env), 'ballast', 'parts'),
    platform: `${goos}/${goarch}`,
    host: hostname(),
    isTest: env['VITEST'] === 'true',
    goEnv: {
      ...env,
      CGO_ENABLED: '0',
      GOOS: goos,
      GOARCH: goarch,
      GO111MODULE: 'on',
      // A workspace in a directory above would put its own versions in place of the pinned ones.
      GOWORK: 'off',
    },
  };
}

function cacheHome(env: Environment): string {
  const xdg = env['XDG_CACHE_HOME'];
  // The XDG specification: a relative path is invalid and to be ignored.
  return xdg !== undefined && isAbsolute(xdg) ? xdg : join(env['HOME'] ?? homedir(), '.cache');
}
