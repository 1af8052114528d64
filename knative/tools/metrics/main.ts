// `npm run docs:metrics`: writes the tables of docs/metrics.md, or checks them.
import { answerCommand } from '../../../shared/arguments.ts';
import { answer, StaleTables, USAGE } from './command.ts';

try {
  await answerCommand(USAGE, answer);
} catch (error) {
  if (!(error instanceof StaleTables)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
