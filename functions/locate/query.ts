// The parameters of one request. Each has to be known, given once and well-formed; otherwise the
// request is refused with the name of the first that is not.
import { Failure } from '../../shared/errors.ts';
import type { Parameter } from './parameters.ts';

/** A refused value is shown in the error up to this length. */
const SHOWN_MAX = 60;

export class Query {
  readonly #values = new Map<string, unknown>();

  constructor(query: URLSearchParams, known: readonly Parameter<unknown>[]) {
    for (const [name, text] of query) {
      const parameter = known.find((one) => one.name === name);
      if (parameter === undefined) throw unknown(name, known);
      if (this.#values.has(name)) throw invalid(name, `The parameter ${name} is there twice.`);
      if (text === '') throw invalid(name, `The parameter ${name} is empty: ${parameter.meaning}.`);
      this.#values.set(name, parseOne(parameter, text));
    }
  }

  get<Value>(parameter: Parameter<Value>): Value | undefined {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its own parser made it
    return this.#values.get(parameter.name) as Value | undefined;
  }
}

/** `field` may also be a path into the body. */
export function parseOne<Value>(
  { name, parse }: Pick<Parameter<Value>, 'name' | 'parse'>,
  text: string,
): Value {
  try {
    return parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const shown = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
    throw invalid(name, `The parameter ${name} ('${shown}') is ${why}.`);
  }
}

export function invalid(field: string, message: string): Failure {
  return new Failure('QUERY_INVALID', message, { field });
}

function unknown(name: string, known: readonly Parameter<unknown>[]): Failure {
  const shown = name.length > SHOWN_MAX ? `${name.slice(0, SHOWN_MAX)}…` : name;
  const names = known.map((one) => one.name).join(', ') || 'none';
  return invalid(shown, `The parameter '${shown}' is not known here; known are: ${names}.`);
}
