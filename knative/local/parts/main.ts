// `node knative/local/parts/main.ts [names...]`: finds or builds the real binaries ahead of time
// and says where they are.
import { parseArgs } from 'node:util';
import { type PartName, isPartName, planePartNames, partEntry, partNames } from './catalog.ts';
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

async function main(): Promise<number> {
  const names = wantedNames();
  if (names === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  if (typeof names === 'string') {
    process.stderr.write(`${names}\n${USAGE}\n`);
    return 2;
  }
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => abort.abort());
  try {
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
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

/** The names, `help`, or what is wrong with the arguments. */
function wantedNames(): readonly PartName[] | string {
  try {
    const options = { help: { type: 'boolean', short: 'h' } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.help === true) return 'help';
    const unknown = positionals.find((name) => !isPartName(name));
    if (unknown !== undefined) return `there is no part ${unknown}`;
    return positionals.length === 0 ? planePartNames : positionals.filter(isPartName);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

process.exitCode = await main();
