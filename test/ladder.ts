// `npm test`: climbs the ladder and closes with the line `N passed, N failed`.
// Ends with 0 only when nothing failed, with 2 when it did not understand what it was asked.

import { env } from 'node:process';
import { readOptions, usage } from './ladder/options.ts';

async function main(): Promise<number> {
  const strict = env['CI'] === 'true';
  const options = readOptions(process.argv.slice(2), strict);
  if (options.do === 'help') {
    process.stdout.write(usage());
    return 0;
  }
  if (options.do === 'refuse') {
    process.stderr.write(`${options.why}\n\n${usage()}`);
    return 2;
  }
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => interrupt.abort());
  }
  // Help and refusals need none of it.
  const { climbChosen } = await import('./ladder/climb-chosen.ts');
  return (await climbChosen(options, strict, interrupt.signal)) ? 0 : 1;
}

process.exitCode = await main();
