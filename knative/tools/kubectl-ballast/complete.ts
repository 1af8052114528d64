// Completes a line of kubectl ballast as kubectl asks its plugins to: a line for each word that may
// stand next, and at last a number that says whether a shell shall offer files instead.
import { SHELLS } from './completion.ts';
import { subcommands } from './subcommands.ts';

/** The numbers of cobra, which kubectl is written with: its plugins have to speak like it. */
const FILES_WHERE_NOTHING_FITS = 0;
const NO_FILES = 4;

/** The last word is the one that is being written, and may be empty. */
export async function complete(words: readonly string[], calledAs: string): Promise<string> {
  const begun = words.at(-1) ?? '';
  const [name, ...args] = words.slice(0, -1);
  if (name === undefined) {
    return answerOf([...Object.keys(subcommands), 'completion', '--help', '--version'], begun);
  }
  if (name === 'completion') return answerOf(args.length === 0 ? SHELLS : [], begun);
  const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  if (subcommand === undefined) return answerOf([], begun);
  const own = `${calledAs} ${name}`;
  const usage = await subcommand.usage(own);
  if (begun.startsWith('-')) return answerOf(optionsIn(usage), begun);
  const first = args.length === 0 ? firstWordsIn(usage, own) : [];
  return answerOf(first, begun, first.length > 0 ? NO_FILES : FILES_WHERE_NOTHING_FITS);
}

const answerOf = (words: readonly string[], begun: string, directive = NO_FILES): string =>
  [...words.filter((word) => word.startsWith(begun)), `:${directive}`, ''].join('\n');

const optionsIn = (usage: string): readonly string[] => [
  ...new Set(usage.match(/--[a-z][a-z0-9-]*/g)),
];

/** Words that have to be written as they stand; those that stand for another are in capitals. */
const firstWordsIn = (usage: string, calledAs: string): readonly string[] =>
  usage
    .split('\n')
    .map((line) => line.split(`${calledAs} `)[1]?.split(' ')[0] ?? '')
    .filter((word) => /^[a-z][a-z-]*$/.test(word));
