// `npm start`: a real control plane on this machine, shown live until Ctrl-C.
import { START_HELP, START_USAGE, UsageError, startOptions } from './start-options.ts';
import { runSession } from './view/session.ts';

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = startOptions(args);
    if (options !== undefined) return await runSession(options);
    process.stdout.write(START_HELP);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n${START_USAGE}\n`);
    return 2;
  }
}

process.exitCode = await main(process.argv.slice(2));
