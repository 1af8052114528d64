// `npm run chaos:etcd -- --seeds N`: lives of EtcdClusters on the model of etcd that the unit tests
// have, each with deaths, old reads and lost events that come from its seed. Ends with 1 when one
// of them broke a rule or never came to rest, with 2 when it was asked wrongly.
import { UsageError } from '../../../shared/arguments.ts';
import { readOptions, USAGE } from './options.ts';

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options === undefined) {
      process.stdout.write(USAGE);
      return 0;
    }
    // Help and refusals need none of it.
    const { runSeeds } = await import('./run-seeds.ts');
    return await runSeeds(options);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return 2;
  }
}

process.exitCode = await main();
