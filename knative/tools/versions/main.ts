// `npm run versions`: writes v1beta1 of our kinds, or checks it.
import { answerGenerator } from '../generated.ts';
import { answer, USAGE } from './command.ts';

await answerGenerator(USAGE, (args) => answer(args));
