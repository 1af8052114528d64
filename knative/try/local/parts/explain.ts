// Turns what Go said when it failed into what happened and what to do next, with Go's last lines
// below.
import type { PartEntry } from './part-entry.ts';

/** The Go version in the go.mod files beside this one; a test compares the two. */
export const GO_WANTED = '1.26';

interface Diagnosis {
  readonly sign: RegExp;
  readonly says: string;
}

/** The first sign that is found decides. */
const diagnoses: readonly Diagnosis[] = [
  {
    sign: /no space left on device|disk quota exceeded/,
    says:
      'The disk is full. A build needs about 7 GB in all: modules (GOMODCACHE), ' +
      'the build cache (GOCACHE), temporary files (TMPDIR) and the binaries (XDG_CACHE_HOME)',
  },
  {
    sign: /checksum mismatch|SECURITY ERROR/,
    says:
      'A module that was downloaded is not the one that go.sum pins, so nothing was built. ' +
      'If `go clean -modcache` does not help, the source named by GOPROXY hands out something else',
  },
  {
    sign: /signal: killed|cannot allocate memory|out of memory/,
    says: 'The machine ran out of memory. GOFLAGS=-p=1 builds with less, and slower',
  },
  {
    sign: /dial tcp|no such host|i\/o timeout|TLS handshake|: [45]\d\d [A-Z]|GOPROXY=off/,
    says: 'A module could not be downloaded. Check the network, and GOPROXY if there is a mirror',
  },
];

export function explainGoFailure(
  command: string,
  ending: string,
  lastLines: readonly string[],
): string {
  const text = lastLines.join('\n');
  const diagnosis = diagnoses.find(({ sign }) => sign.test(text));
  const message = diagnosis?.says ?? `\`go ${command}\` failed`;
  const said = lastLines.length === 0 ? 'Go printed nothing.' : `Go's last lines:\n${text}`;
  return `${message} (${ending}). ${said}`;
}

/** Said before the first minute passes: what is going to happen, how long, and what stays. */
export function explainBuild(
  names: readonly string[],
  modules: number,
  go: string,
  cacheDir: string,
): string {
  const message = names.length === 1 ? '1 binary is' : `${names.length} binaries are`;
  const from = modules === 1 ? '1 Go module' : `${modules} Go modules`;
  return (
    `${message} not there yet: ${names.join(', ')}. They are built from source with ${go}, from ` +
    `${from}, once, into ${cacheDir}. Each module takes one to five minutes on two idle cores, ` +
    'less after others, and longer on busy ones. Ctrl-C keeps the modules that are done.'
  );
}

/** A test that waited for a build would only be told to have been slow. */
export function explainTest(missing: readonly PartEntry[]): string {
  const names = missing.map(({ name }) => name).join(' ');
  return `A test needs parts that are not built yet: run \`npm run parts -- ${names}\` first.`;
}

/** Neither found nor buildable on this machine as it is; the message names the ways out. */
export class PartsUnavailable extends Error {
  override readonly name = 'PartsUnavailable';
}

export function explainNoGo(
  missing: readonly PartEntry[],
  passedOver: readonly string[],
  why: string,
): string {
  const parts = missing.map(({ name, version }) => `${name} ${version}`).join(', ');
  const kubebuilder = missing.filter((entry) => entry.isKubebuilderAsset);
  const assets = kubebuilder.map(({ name }) => name).join(', ');
  const ways = [
    `install Go ${GO_WANTED} or later (https://go.dev/dl/), which builds them once, in minutes;`,
    'put the binaries into a directory and name it: BALLAST_PARTS=/the/directory;',
    ...(assets === '' ? [] : [`for ${assets}, KUBEBUILDER_ASSETS does it too;`]),
    'or put fitting versions on PATH.',
  ];
  return [
    `These parts were not found and cannot be built: ${parts}.`,
    why,
    ...passedOver.map((clause) => `Not taken: ${clause}.`),
    'Ways out:',
    ...ways.map((way) => `  - ${way}`),
  ].join('\n');
}
