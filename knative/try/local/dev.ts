// `npm run dev -- <function>`: what `npm start` runs, with one function from its sources.
import { functionNames } from '../../tools/build/function-names.ts';
import { runCommand } from './view/command.ts';

const about = `Runs what npm start runs, with one function straight from its sources: its log is
shown, and it is started again whenever a source changes.`;

process.exitCode = await runCommand(
  {
    usage: 'npm run dev -- [--help] FUNCTION [OPTION...]',
    about,
    functions: await functionNames(),
  },
  process.argv.slice(2),
);
