// `npm run rights`: prints what to apply for the rights of a function.
import { answerCommand } from '../../../shared/arguments.ts';
import { answer, USAGE } from './command.ts';

await answerCommand(USAGE, answer);
