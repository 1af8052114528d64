// `npm run chaos:feed -- --seeds N`: breaks a feed on real parts in N ways that come from N seeds,
// and says whether every reader was right in the end. Ends with 1 when one was not, with 2 when it
// was asked wrongly.
import { UsageError } from '../../shared/arguments.ts';
import { readOptions, USAGE } from './options.ts';

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options === undefined) {
      process.stdout.write(USAGE);
      return 0;
    }
    // Help and refusals need none of it, and it takes most of a second to load.
    const { runSeeds } = await import('./run-seeds.ts');
    return await runSeeds(options);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return 2;
  }
}

// Not by its own end: Node 24 may wait for ever, at full speed, for a write to a socket whose other
// side was frozen when it was closed.
process.exit(await main());
