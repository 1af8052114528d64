// `kubectl ballast`: one program of all commands that people run against a cluster, for those who
// have no clone. It finds the subcommand, and leaves the rest to it, its exit code among that.
import { ASKED_WRONGLY, answerCommand } from '../../../shared/arguments.ts';
import type { BuildInfo } from '../../../shared/function/runtime.ts';
import { subcommands } from './subcommands.ts';

const CALLED_AS = 'kubectl ballast';
const USAGE = `\
usage: ${CALLED_AS} COMMAND [OPTION...]
       ${CALLED_AS} --help  lists all commands
`;

export async function runPlugin(
  info: BuildInfo,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  const [name = '', ...others] = args;
  const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  if (subcommand !== undefined) return subcommand.run(others, `${CALLED_AS} ${name}`);
  switch (name) {
    case '--help':
    case '-h':
    case 'help':
      return void process.stdout.write(helpText());
    case '--version':
      return void process.stdout.write(versionText(info));
    case 'completion': {
      const { answer, usageOf } = await import('./completion.ts');
      return answerCommand(usageOf(`${CALLED_AS} completion`), answer, others);
    }
    case '__complete': {
      const { complete } = await import('./complete.ts');
      return void process.stdout.write(await complete(others, CALLED_AS));
    }
    default:
      process.stderr.write(`${whyNot(name)}\n\n${USAGE}`);
      process.exitCode = ASKED_WRONGLY;
  }
}

function whyNot(name: string): string {
  if (name === '') return 'which command?';
  // A word that is no name may hold anything.
  const printed = JSON.stringify(name).slice(1, -1);
  return `there is no ${name.startsWith('-') ? 'option' : 'command'} ${printed}`;
}

const versionText = ({ version, commit }: BuildInfo): string =>
  `kubectl-ballast ${version}${commit === '' ? '' : ` (${commit})`}\n`;

function helpText(): string {
  const purposes = Object.entries(subcommands).map(([name, { purpose }]) => [name, purpose]);
  const rows = [...purposes, ['completion', 'prints what a shell needs to complete all this']];
  const list = rows.map(([name = '', purpose = '']) => `  ${name.padEnd(13)}${purpose}\n`);
  return `\
usage: ${CALLED_AS} COMMAND [OPTION...]

${list.join('')}
  --help       this, and after a command what that takes
  --version    which version this is

What the exit codes of a command mean stands in its help; 2 is also for what cannot be followed.
`;
}
