// How commands read their arguments: what cannot be followed is a UsageError, which names it.
import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The exit code of a command that cannot do what it is asked: the same again ends the same way. */
export const ASKED_WRONGLY = 2;

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type OptionsConfig = NonNullable<ParseArgsConfig['options']>;

interface Config<Options> {
  readonly args: string[];
  readonly allowPositionals: true;
  readonly options: Options;
}

export function readArguments<Options extends OptionsConfig>(
  given: readonly string[],
  options: Options,
): ReturnType<typeof parseArgs<Config<Options>>> {
  const args = [...given];
  refuseWrong(args, options);
  return parseArgs({ args, allowPositionals: true, options });
}

/** The value of one option among arguments that may be wrong. */
export function givenValue(given: readonly string[], name: string): string | undefined {
  const options = { [name]: { type: 'string' } } as const;
  const value = parseArgs({ args: [...given], strict: false, options }).values[name];
  return typeof value === 'string' ? value : undefined;
}

/** In our own words: those of Node's parser give advice that fits no command here. */
function refuseWrong(args: string[], options: OptionsConfig): void {
  const { tokens } = parseArgs({ args, strict: false, tokens: true, options });
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined) throw new UsageError(`there is no option ${rawName}`);
    if (option.type === 'boolean') {
      if (value !== undefined) throw new UsageError(`${rawName} takes no value`);
    } else if (value === undefined) {
      throw new UsageError(`${rawName} wants a value`);
    } else if (value.startsWith('-') && value.length > 1 && !inlineValue) {
      const joined = `${rawName}=${value}`;
      throw new UsageError(`${rawName} wants a value; if ${value} is the value, write ${joined}`);
    }
  }
}

/** A command that prints its answer; of what it cannot follow it says why, and how it is used. */
export async function answerCommand(
  usage: string,
  answer: (args: readonly string[], usage: string) => string | Promise<string>,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  try {
    process.stdout.write(await answer(args, usage));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}`);
    process.exitCode = ASKED_WRONGLY;
  }
}

/** For commands that are told everything by options. */
export function refuseWords(words: readonly string[]): void {
  if (words[0] !== undefined) throw new UsageError(`nothing is known of "${words[0]}"`);
}

/** Undefined for an option that was not given. */
export function wholeNumber(
  option: string,
  text: string | undefined,
  least: number,
  most: number,
): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`${option} wants a whole number from ${least} to ${most}, not "${text}"`);
}
