// `npm run docs:dashboard`: writes the dashboard for Grafana, or checks it.
import { answerGenerator } from '../generated.ts';
import { answer, USAGE } from './command.ts';

await answerGenerator(USAGE, (args) => answer(args));
