// `npm run measure -- WHAT`: numbers that are no ratio against anybody, such as what a larger
// cluster costs. Ends with 2 when it was asked wrongly.
import { UsageError } from '../../shared/arguments.ts';
import { readOptions, USAGE } from './options.ts';

/** A shell expects it after Ctrl-C. */
const ENDED_BY_SIGNAL = 130;

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options.measurement === 'help') {
      process.stdout.write(USAGE);
      return 0;
    }
    // Help and refusals need none of it, and it takes most of a second to load.
    const { measure } = await import('./measurements.ts');
    // The helpers end with whoever forked them.
    if (!(await measure(options))) process.exit(ENDED_BY_SIGNAL);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return 2;
  }
}

process.exitCode = await main();
