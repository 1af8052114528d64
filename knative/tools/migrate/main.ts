// `npm run migrate`: prints what to apply for the migration of one kind.
import { answerCommand } from '../../../shared/arguments.ts';
import { answer, USAGE } from './command.ts';

await answerCommand(USAGE, answer);
