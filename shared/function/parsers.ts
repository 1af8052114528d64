// Parsers for configuration values. Each throws an Error whose message ends the sentence "PORT is
// ...". `oneOf` and `list` are generic: give them a const of their own, since TypeScript infers
// `unknown` from such a call inside a shape.

export const text = (value: string): string => value;

export function integer(min: number, max: number): (value: string) => number {
  return (value) => {
    const parsed = /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
    if (parsed >= min && parsed <= max) return parsed;
    throw new Error(`not a whole number from ${min} to ${max}`);
  };
}

/** Seconds in the environment, milliseconds in the code. */
export function secondsAsMs(min: number, max: number): (value: string) => number {
  return (value) => {
    const seconds = /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
    if (seconds >= min && seconds <= max) return seconds * 1_000;
    throw new Error(`not a number of seconds from ${min} to ${max}`);
  };
}

export function oneOf<const Choices extends readonly string[]>(
  ...choices: Choices
): (value: string) => Choices[number] {
  return (value) => {
    const found = choices.find((choice) => choice === value);
    if (found !== undefined) return found;
    throw new Error(`not one of ${choices.join(', ')}`);
  };
}

export function flag(value: string): boolean {
  return oneOf('true', 'false')(value) === 'true';
}

export function url(...protocols: readonly string[]): (value: string) => URL {
  return (value) => {
    const parsed = URL.parse(value);
    if (parsed !== null && protocols.includes(parsed.protocol.slice(0, -1))) return parsed;
    throw new Error(`not a URL that starts with ${protocols.join(':// or ')}://`);
  };
}

/** Values separated by commas, blanks around them ignored. */
export function list<Item>(item: (value: string) => Item): (value: string) => readonly Item[] {
  return (value) =>
    value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map((part) => item(part));
}
