// `npm run bench -- ID`: runs one benchmark and says whether it meets its limits.
// Ends with 1 when a limit is missed or the run is void, with 2 when it was asked wrongly.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readArguments, UsageError } from '../../shared/arguments.ts';
import { jsonLine, page } from './report.ts';
import type { Bench } from './runner.ts';
import { pairsMin, runPairs } from './runner.ts';
import { judge } from './verdict.ts';

const usage = `npm run bench -- ID                runs one benchmark, for instance P9
npm run bench -- ID --json         the same, and nothing on stdout but one line of JSON
npm run bench -- ID --pairs N      with another number of pairs, at least ${pairsMin}
npm run bench -- --list            the benchmarks there are
`;

async function listIds(): Promise<string[]> {
  const names = await readdir(import.meta.dirname);
  return names.filter((name) => /^p\d+\.ts$/.test(name)).map((name) => name.slice(0, -3));
}

async function load(id: string): Promise<Bench> {
  const ids = await listIds();
  if (!ids.includes(id.toLowerCase())) {
    throw new UsageError(`There is no benchmark ${id}; there are: ${ids.join(', ')}.`);
  }
  const path = join(import.meta.dirname, `${id.toLowerCase()}.ts`);
  const module = (await import(path)) as { bench: Bench };
  return module.bench;
}

const OPTIONS = {
  json: { type: 'boolean', default: false },
  pairs: { type: 'string' },
  list: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function readPairs(given: string | undefined, bench: Bench): number {
  const pairs = Number(given ?? bench.pairs);
  if (Number.isInteger(pairs) && pairs >= pairsMin) return pairs;
  throw new UsageError(`--pairs wants a whole number from ${pairsMin} on, not ${given}.`);
}

async function measure(bench: Bench, pairs: number, json: boolean): Promise<number> {
  const opened = await bench.open();
  const giveUp = (): void => {
    // Nothing that the bench started may outlive it; 130 is what a shell expects after Ctrl-C.
    void opened.close().finally(() => process.exit(130));
  };
  process.once('SIGINT', giveUp).once('SIGTERM', giveUp);
  try {
    const measured = await runPairs(bench, opened.sides, pairs, (done) => {
      if (process.stderr.isTTY) process.stderr.write(`\r${bench.id}: pair ${done} of ${pairs} `);
    });
    if (process.stderr.isTTY) process.stderr.write('\r');
    const results = judge(bench, measured);
    (json ? process.stderr : process.stdout).write(page(bench, results, pairs));
    if (json) process.stdout.write(`${jsonLine(bench, results)}\n`);
    return results.every(({ verdict }) => verdict === 'pass') ? 0 : 1;
  } finally {
    await opened.close();
  }
}

async function main(): Promise<number> {
  try {
    const { values, positionals } = readArguments(process.argv.slice(2), OPTIONS);
    if (values.help) {
      process.stdout.write(usage);
      return 0;
    }
    if (values.list) {
      for (const id of await listIds()) {
        process.stdout.write(`${id.toUpperCase()}  ${(await load(id)).title}\n`);
      }
      return 0;
    }
    const [id] = positionals;
    if (id === undefined || positionals.length > 1) throw new UsageError('Name one benchmark.');
    const bench = await load(id);
    return await measure(bench, readPairs(values.pairs, bench), values.json);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}`);
    return 2;
  }
}

process.exitCode = await main();
