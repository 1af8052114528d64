// `npm run versions`: writes v1beta1 of our kinds, or checks it.
import { answerCommand } from '../../../shared/arguments.ts';
import { answer, StaleVersion, USAGE } from './command.ts';

try {
  await answerCommand(USAGE, (args) => answer(args));
} catch (error) {
  if (!(error instanceof StaleVersion)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
