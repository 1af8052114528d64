// `npm run docs:metrics`: writes the lists of docs/metrics.md, or checks them.
import { answerCommand } from '../../../shared/arguments.ts';
import { answer, StalePage, USAGE } from './command.ts';

try {
  await answerCommand(USAGE, (args) => answer(args));
} catch (error) {
  if (!(error instanceof StalePage)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
