// The main of both commands of seeds: help, a refusal with the usage, or the run. Its code is 2
// when it was asked wrongly.
import { UsageError } from '../../shared/arguments.ts';

export interface Chaos<Options> {
  readonly usage: string;
  /** Undefined where help was asked for. */
  readonly readOptions: (args: string[]) => Options | undefined;
  /** Help and refusals need none of it, and it takes most of a second to load. */
  readonly load: () => Promise<{ readonly runSeeds: (options: Options) => Promise<number> }>;
}

export async function runChaos<Options>(chaos: Chaos<Options>): Promise<number> {
  try {
    const options = chaos.readOptions(process.argv.slice(2));
    if (options === undefined) {
      process.stdout.write(chaos.usage);
      return 0;
    }
    const { runSeeds } = await chaos.load();
    return await runSeeds(options);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${chaos.usage}`);
    return 2;
  }
}
