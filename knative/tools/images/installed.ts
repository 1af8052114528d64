// Which packages the content of an image came from: npm's by the lock file, the machine's own by
// asking dpkg, and what Node says it was built with.
import { execFile } from 'node:child_process';
import { readFile, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');

export interface NpmPackage {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  /** As the lock file has it: algorithm, dash, base64. */
  readonly integrity?: string;
}

interface Lock {
  readonly packages: Readonly<Record<string, Omit<NpmPackage, 'name'>>>;
}

const MODULES = 'node_modules/';

/** `sources` as a build gives them; those that are no package's are left out. */
export async function npmPackagesOf(sources: readonly string[]): Promise<NpmPackage[]> {
  const text = await readFile(join(root, 'package-lock.json'), 'utf8');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- npm's own format
  const { packages } = JSON.parse(text) as Lock;
  const places = new Set(sources.flatMap((source) => packageOf(source) ?? []));
  return [...places].toSorted().map((place) => {
    const found = packages[place];
    if (found === undefined) throw new Error(`package-lock.json has no ${place}; run npm ci.`);
    return { ...found, name: place.slice(place.lastIndexOf(MODULES) + MODULES.length) };
  });
}

/** `node_modules/@scope/name/file.js` lies in `node_modules/@scope/name`. */
function packageOf(source: string): string | undefined {
  const at = source.lastIndexOf(MODULES);
  if (at === -1) return undefined;
  const [first = '', second = ''] = source.slice(at + MODULES.length).split('/');
  const name = first.startsWith('@') ? `${first}/${second}` : first;
  return `${source.slice(0, at)}${MODULES}${name}`;
}

export interface SystemPackage {
  /** `debian-12`: the same version has other content elsewhere. */
  readonly distribution: string;
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/** Undefined for a file that no package owns, and on a machine without dpkg. */
export async function systemPackageOf(path: string): Promise<SystemPackage | undefined> {
  // A file in /lib may be known as one in /usr/lib, since one directory is a link to the other.
  const names = new Set([path, `/usr${path}`, await realpath(path)]);
  for (const file of names) {
    const name = /^[^,:]+/.exec(await dpkg('-S', file))?.[0];
    if (name === undefined) continue;
    const said = await dpkg('-W', '-f', '${Version} ${Architecture}\\n', name);
    const [version = '', architecture = ''] = said.split('\n', 1).join('').split(' ');
    return { distribution: await distribution(), name, version, architecture };
  }
  return undefined;
}

async function dpkg(...args: readonly string[]): Promise<string> {
  try {
    return (await run('dpkg-query', args)).stdout;
  } catch {
    return '';
  }
}

async function distribution(): Promise<string> {
  const text = await readFile('/etc/os-release', 'utf8');
  const [, id = 'linux'] = /^ID="?([^"\n]+)/m.exec(text) ?? [];
  const [, version] = /^VERSION_ID="?([^"\n]+)/m.exec(text) ?? [];
  return version === undefined ? id : `${id}-${version}`;
}

/** Interfaces that it numbers, which are no software of their own. */
const NOT_SOFTWARE = ['node', 'modules', 'napi', 'unicode', 'cldr', 'tz'];

/** Libraries that are linked into a Node: name and version. */
export async function builtInto(node: string): Promise<[string, string][]> {
  const { stdout } = await run(node, ['-p', 'JSON.stringify(process.versions)']);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all of them are text
  const versions = JSON.parse(stdout) as Record<string, string>;
  return Object.entries(versions).filter(
    ([name, version]) => version !== '' && !NOT_SOFTWARE.includes(name),
  );
}
