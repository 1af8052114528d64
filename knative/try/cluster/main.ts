// `npm run cluster`: a real cluster on this machine, and what can be asked of a running one.
import { UsageError } from '../../../shared/arguments.ts';
import { HELP, readRequest, USAGE } from './options.ts';
import { CannotRunHere } from './preflight.ts';

const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(): Promise<number> {
  try {
    const request = readRequest(process.argv.slice(2));
    if (request.do === 'help') {
      print(HELP);
      return 0;
    }
    // Help and refusals need none of it, and it takes half a second to load.
    const { follow } = await import('./requests.ts');
    return await follow(request, print);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isUsage = error instanceof UsageError;
    const head = error instanceof CannotRunHere ? 'A cluster cannot run here. ' : '';
    process.stderr.write(`${head}${message}\n${isUsage ? `${USAGE}\n` : ''}`);
    return isUsage ? 2 : 1;
  }
}

process.exitCode = await main();
