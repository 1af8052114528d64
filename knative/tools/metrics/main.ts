// `npm run docs:metrics`: writes the lists of docs/metrics.md, or checks them.
import { answerGenerator } from '../generated.ts';
import { answer, USAGE } from './command.ts';

await answerGenerator(USAGE, (args) => answer(args));
