// `npm run docs:dashboard`: writes the dashboard for Grafana, or checks it.
import { answerCommand } from '../../../shared/arguments.ts';
import { answer, StaleDashboard, USAGE } from './command.ts';

try {
  await answerCommand(USAGE, (args) => answer(args));
} catch (error) {
  if (!(error instanceof StaleDashboard)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
