// Configuration from environment variables, declared once: name, parser, default, meaning.
// Reading gives one frozen object, or one error that names every variable that is missing or
// wrong.

export interface Variable<Value> {
  /** The name in the environment, as `PORT`. */
  readonly env: string;
  /** One phrase for people: what the value decides. */
  readonly meaning: string;
  /** Throws an Error whose message ends the sentence "PORT is ...". */
  readonly parse: (text: string) => Value;
  /** Without this key the variable must be set. */
  readonly fallback?: NoInfer<Value>;
  /**
   * A value that parses; a variable without fallback needs it, so that a build can start the
   * function once.
   */
  readonly example?: string;
  /** Never shown, not even in part. */
  readonly secret?: boolean;
}

export type ConfigShape<Config> = { readonly [Key in keyof Config]-?: Variable<Config[Key]> };

export type Environment = Readonly<Record<string, string | undefined>>;

export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration does not hold: ${problems.join('; ')}.`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

export interface ConfigReading<Config> {
  readonly problems: readonly string[];
  /** Throws ConfigError when there are problems. */
  config(): Readonly<Config>;
}

export function readConfig<Config extends object>(
  environment: Environment,
  shape: ConfigShape<Config>,
): ConfigReading<Config> {
  const problems: string[] = [];
  const config: Partial<Config> = {};
  for (const [key, variable] of variablesOf(shape)) {
    try {
      config[key] = readOne(environment, variable);
    } catch (cause) {
      problems.push(problemOf(variable, environment, cause));
    }
  }
  return {
    problems,
    config: () => {
      if (problems.length > 0) throw new ConfigError(problems);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every key was read
      return Object.freeze(config as Config);
    },
  };
}

/** Text before an @ may be a password, also in a list of addresses and in a mistyped one. */
const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)?.*@/is;

const withoutUserInfo = (text: string): string => text.replace(USER_INFO, '$1***@');

/**
 * The configuration in force, for the one line that is logged at the start: `{ port: 8080, token:
 * '(secret, set)' }`.
 */
export function showConfig<Config extends object>(
  config: Config,
  shape: ConfigShape<Config>,
): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [key, { secret }] of variablesOf(shape)) {
    const value: unknown = config[key];
    const isSet = value !== undefined && value !== '';
    shown[key] = secret === true ? `(secret, ${isSet ? 'set' : 'unset'})` : shownValue(value);
  }
  return shown;
}

function shownValue(value: unknown): unknown {
  if (typeof value === 'string') return withoutUserInfo(value);
  if (value instanceof URL) return withoutUserInfo(value.href);
  if (Array.isArray(value)) return value.map((item) => shownValue(item));
  return value;
}

/**
 * Text for every variable that has to be set: enough to start a function without its real
 * surroundings.
 */
export function exampleEnvironment<Config extends object>(
  shape: ConfigShape<Config>,
): Record<string, string> {
  const examples: Record<string, string> = {};
  for (const [, variable] of variablesOf(shape)) {
    const { env, example } = variable;
    if (isRequired(variable) && example !== undefined) examples[env] = example;
  }
  return examples;
}

export function variablesOf<Config extends object>(
  shape: ConfigShape<Config>,
): [keyof Config & string, Variable<Config[keyof Config & string]>][] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- entries() forgets the keys
  return Object.entries(shape) as [
    keyof Config & string,
    Variable<Config[keyof Config & string]>,
  ][];
}

export const isRequired = (variable: Variable<unknown>): boolean => !('fallback' in variable);

function readOne<Value>(environment: Environment, variable: Variable<Value>): Value | undefined {
  const text = environment[variable.env];
  // Manifests write `value: ""` for "not set".
  if (text !== undefined && text !== '') return variable.parse(text);
  if (isRequired(variable)) throw new Error('not set');
  return variable.fallback;
}

function problemOf(variable: Variable<unknown>, environment: Environment, cause: unknown): string {
  const why = cause instanceof Error ? cause.message : String(cause);
  const { env, meaning, secret } = variable;
  const text = environment[env] ?? '';
  if (text === '') return `${env} is ${why}; it says ${meaning}`;
  const shown = secret === true ? '(secret)' : withoutUserInfo(text);
  // A parser may quote what it was given.
  const reason = why.replaceAll(text, shown);
  return `${env}${secret === true ? '' : ` ('${shown}')`} is ${reason}; it says ${meaning}`;
}
