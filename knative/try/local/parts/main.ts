// `node knative/try/local/parts/main.ts [names...]`: finds or builds the real binaries ahead of
// time and says where they are.
import { readArguments, UsageError } from '../../../../shared/arguments.ts';
import { isPartName, planePartNames, partEntry, partNames } from './catalog.ts';
import type { PartName } from './part-entry.ts';
import { GO_WANTED } from './explain.ts';
import { resolveParts } from './resolve.ts';
import { askVersion } from './search.ts';

const USAGE = 'usage: npm run parts -- [--help] [NAME...]';

const HELP = `${USAGE}

Finds each real binary that the local control plane and the tests need, builds what is nowhere to
be found, checks cached ones against their hashes, and prints name, version, path and where it
came from. Without a name: all that \`npm start\` and the tests without nodes need;
\`npm test -- node\` gets those of \`npm run cluster\`, too.

Names: ${partNames.join(', ')}

Looked for in this order:
  BALLAST_PARTS        a directory of binaries, taken as they are
  KUBEBUILDER_ASSETS   the same, for etcd, kube-apiserver and kubectl
  PATH                 a binary of a fitting version
  the cache            \${XDG_CACHE_HOME:-~/.cache}/ballast/parts
  Go ${GO_WANTED} or later     builds it into the cache, from modules pinned by go.sum; GOFLAGS and
                       GOPROXY apply
`;

const OPTIONS = { help: { type: 'boolean', short: 'h' } } as const;

async function main(args: readonly string[]): Promise<number> {
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => abort.abort());
  try {
    const names = wantedNames(args);
    if (names === undefined) {
      process.stdout.write(HELP);
      return 0;
    }
    const parts = await resolveParts(names, { check: 'full', signal: abort.signal });
    for (const [name, { path, source }] of parts) {
      const entry = partEntry(name);
      // The adapter cannot tell; a built one is of the pinned version.
      const isOurs = source === 'cache' || source === 'built';
      const version = isOurs ? entry.version : ((await askVersion(entry, path)) ?? 'unknown');
      process.stdout.write(`${name.padEnd(26)} ${version.padEnd(9)} ${path} (${source})\n`);
    }
    return 0;
  } catch (error) {
    if (abort.signal.aborted) return 130;
    const isUsage = error instanceof UsageError;
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${message}\n${isUsage ? `${USAGE}\n` : ''}`);
    return isUsage ? 2 : 1;
  }
}

/** Undefined when help was asked for. */
function wantedNames(args: readonly string[]): readonly PartName[] | undefined {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (values.help === true) return undefined;
  const unknown = positionals.find((name) => !isPartName(name));
  if (unknown !== undefined) throw new UsageError(`there is no part ${unknown}`);
  return positionals.length === 0 ? planePartNames : positionals.filter(isPartName);
}

process.exitCode = await main(process.argv.slice(2));
