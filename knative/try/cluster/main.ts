// `npm run cluster`: a real cluster on this machine, and what can be asked of a running one.
import { UsageError } from '../../../shared/arguments.ts';
import { HELP, readRequest, type Request, USAGE } from './options.ts';
import { CannotRunHere } from './preflight.ts';
import { endCluster, showLogs, showStatus } from './running.ts';
import { stages } from './stages.ts';
import { holdUp } from './up.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function follow(request: Request): Promise<number> {
  if (request.do === 'up') {
    const { nodes, subnet, withKnative } = request;
    return holdUp({ nodes, subnet, say, stages: withKnative ? stages : [] });
  }
  if (request.do === 'help') say(HELP);
  if (request.do === 'status') await showStatus(request.subnet, say);
  if (request.do === 'logs') await showLogs(request.of, request.subnet, say);
  if (request.do === 'down') await endCluster(request.subnet, say);
  return 0;
}

async function main(): Promise<number> {
  try {
    return await follow(readRequest(process.argv.slice(2)));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isUsage = error instanceof UsageError;
    const head = error instanceof CannotRunHere ? 'A cluster cannot run here. ' : '';
    process.stderr.write(`${head}${message}\n${isUsage ? `${USAGE}\n` : ''}`);
    return isUsage ? 2 : 1;
  }
}

process.exitCode = await main();
