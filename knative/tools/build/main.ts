// `npm run build [-- name ...]`: builds the named functions, or all of them, and what else has a
// name here.
import { functionNames } from './function-names.ts';

// An unfinished build is ended and removed on the way out (see prime.ts and build.ts).
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const USAGE = 'usage: npm run build -- [--help] [FUNCTION | chart | kubectl-ballast | reader]...';

/** These are no functions, and are built when they are named. Each resolves with a directory. */
const others: Readonly<Record<string, () => Promise<string>>> = {
  chart: async () => (await import('./chart/build.ts')).buildChart(),
  'kubectl-ballast': async () => (await import('./plugin/build.ts')).buildPlugin(),
  reader: async () => (await import('./reader/build.ts')).buildReader(),
};

const named = process.argv.slice(2);
const known = await functionNames();
const unknown = named.filter((name) => !known.includes(name) && !Object.hasOwn(others, name));
if (named.includes('--help') || named.includes('-h')) {
  process.stdout.write(
    `${USAGE}\n\nBundles functions into dist, all of them when none is named.` +
      `\nThere are: ${known.join(', ')}.` +
      '\n\nchart            a Helm chart of what kubectl apply -k knative applies: docs/helm.md' +
      '\nkubectl-ballast  one executable of what people run against a cluster, for this' +
      '\n                 machine, its archive and a manifest for krew: docs/kubectl-ballast.md' +
      '\nreader           the reader of the feed as a package for npm: docs/agents.md\n',
  );
} else if (unknown.length > 0) {
  process.stderr.write(
    `No such function: ${unknown.join(', ')}. There are: ${known.join(', ')}.\n${USAGE}\n`,
  );
  process.exitCode = 2;
} else {
  const { buildFunction } = await import('./build.ts');
  for (const name of named.length > 0 ? named : known) {
    const dir = await (others[name]?.() ?? buildFunction(name).then((built) => built.dir));
    process.stdout.write(`${name}: ${dir}\n`);
  }
}
