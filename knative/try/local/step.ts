// `npm run step`: takes our own kinds of the control plane that `npm start -- --step` holds up one
// step forward or back, in the place of the `kubectl apply -k` of docs/upgrading.md.
import {
  answerCommand,
  readArguments,
  UsageError,
  wholeNumber,
} from '../../../shared/arguments.ts';
import { LAST_NUMBER, STEPS } from './timeline/step-names.ts';

const USAGE = `usage: npm run step -- N [--plane DIR]

Takes our own kinds to step N (0 to ${LAST_NUMBER}) of docs/upgrading.md, on the control plane
that npm start -- --step holds up. Take the steps one after the other, and do before each what is
said there.

  --plane DIR   which control plane, when several run: the directory of its kubeconfig
`;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  plane: { type: 'string' },
} as const;

async function answer(args: readonly string[], usage: string): Promise<string> {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (values.help === true) return usage;
  const [word, ...more] = positionals;
  if (more.length > 0) throw new UsageError(`too many words: ${more.join(' ')}`);
  const step = STEPS[wholeNumber('npm run step', word, 0, LAST_NUMBER) ?? -1];
  if (step === undefined) throw new UsageError('say which step');
  // Help and refusals need none of it.
  const { runStep } = await import('./timeline/run-step.ts');
  await runStep(step, values.plane);
  return `Our own kinds are at step ${word}.\n`;
}

try {
  await answerCommand(USAGE, answer);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
