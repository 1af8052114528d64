// `npm run nats-rights`: prints accounts for the configuration of nats-server; changes nothing.
import { answerCommand } from '../../../shared/arguments.ts';
import { answer, USAGE } from './command.ts';

await answerCommand(USAGE, answer);
