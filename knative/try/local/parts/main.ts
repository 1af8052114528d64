// `node knative/try/local/parts/main.ts [names...]`: finds or builds the real binaries ahead of
// time and says where they are.
import { readArguments, UsageError } from '../../../../shared/arguments.ts';
import { isPartName, partEntry, partNames, planePartNames, startPartNames } from './catalog.ts';
import type { PartName } from './part-entry.ts';
import { GO_WANTED } from './explain.ts';
import { resolveParts } from './resolve.ts';
import { askVersion } from './search.ts';
import { partsSettings } from './settings.ts';

const USAGE = `\
usage: npm run parts -- [--help] [NAME...]
       npm run parts -- --export FILE [NAME...]
       npm run parts -- --import FILE --sha256 HASH`;

const HELP = `${USAGE}

Finds each real binary that the local control plane and the tests need, builds what is nowhere to
be found, checks cached ones against their hashes, and prints name, version, path and where it
came from. Without a name: all that \`npm start\` and the tests without nodes need;
\`npm test -- node\` gets those of \`npm run cluster\`, too.

--export writes them into an archive, without a name those of \`npm start\`, and prints its SHA-256;
--import takes them from there into the cache of another machine, without Go, when the archive has
that hash: docs/try.md.

Names: ${partNames.join(', ')}

Looked for in this order:
  BALLAST_PARTS        a directory of binaries, taken as they are
  KUBEBUILDER_ASSETS   the same, for etcd, kube-apiserver and kubectl
  PATH                 a binary of a fitting version
  the cache            \${XDG_CACHE_HOME:-~/.cache}/ballast/parts
  Go ${GO_WANTED} or later     builds it into the cache, from modules pinned by go.sum; GOFLAGS and
                       GOPROXY apply
`;

const OPTIONS = {
  export: { type: 'string' },
  import: { type: 'string' },
  sha256: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

async function main(args: readonly string[]): Promise<number> {
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => abort.abort());
  try {
    await answer(args, abort.signal);
    return 0;
  } catch (error) {
    if (abort.signal.aborted) return 130;
    const isUsage = error instanceof UsageError;
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${message}\n${isUsage ? `${USAGE}\n` : ''}`);
    return isUsage ? 2 : 1;
  }
}

async function answer(args: readonly string[], signal: AbortSignal): Promise<void> {
  const { values, positionals } = readArguments(args, OPTIONS);
  const unknown = positionals.find((name) => !isPartName(name));
  const names = positionals.filter(isPartName);
  if (values.help === true) process.stdout.write(HELP);
  else if (unknown !== undefined) throw new UsageError(`there is no part ${unknown}`);
  else if (values.import !== undefined) await take(values, names, signal);
  else if (values.sha256 !== undefined) throw new UsageError('--sha256 is for --import');
  else if (values.export !== undefined) await give(values.export, names, signal);
  else await show(names.length === 0 ? planePartNames : names, signal);
}

async function show(names: readonly PartName[], signal: AbortSignal): Promise<void> {
  const parts = await resolveParts(names, { check: 'full', signal });
  for (const [name, { path, source }] of parts) {
    const entry = partEntry(name);
    // The adapter cannot tell; a built one is of the pinned version.
    const isOurs = source === 'cache' || source === 'built';
    const version = isOurs ? entry.version : ((await askVersion(entry, path)) ?? 'unknown');
    process.stdout.write(`${name.padEnd(26)} ${version.padEnd(9)} ${path} (${source})\n`);
  }
}

async function give(path: string, names: readonly PartName[], signal: AbortSignal): Promise<void> {
  if (path === '') throw new UsageError('--export wants a file');
  const { exportParts } = await import('./archive/export.ts');
  const wanted = names.length === 0 ? startPartNames : names;
  const sha256 = await exportParts(wanted, path, { settings: partsSettings(), signal });
  process.stdout.write(`${sha256}  ${path}\n`);
}

interface Imported {
  readonly import?: string | undefined;
  readonly export?: string | undefined;
  readonly sha256?: string | undefined;
}

async function take(
  { import: path = '', export: exported, sha256 = '' }: Imported,
  names: readonly PartName[],
  signal: AbortSignal,
): Promise<void> {
  if (exported !== undefined) throw new UsageError('--export and --import are two commands');
  if (path === '') throw new UsageError('--import wants a file');
  if (names.length > 0) throw new UsageError('--import takes all that is in the archive');
  if (!/^[0-9a-f]{64}$/.test(sha256)) {
    throw new UsageError('--import wants --sha256 with the 64 hex digits that --export printed');
  }
  const { importParts } = await import('./archive/import.ts');
  const onWait = (): void => void process.stderr.write('waiting for another build...\n');
  const taken = await importParts(path, sha256, { settings: partsSettings(), signal, onWait });
  for (const name of taken) {
    process.stdout.write(`${name.padEnd(26)} ${partEntry(name).version}\n`);
  }
}

process.exitCode = await main(process.argv.slice(2));
