// A question that can be asked over HTTP: what it is asked with, what it answers. Made into a route
// here: parameters are judged first, then the picture's freshness, then the question is answered
// from one state of it.
import { Failure } from '../../shared/errors.ts';
import type { Answer, Route } from '../../shared/function/define.ts';
import { textOf } from '../../shared/function/table.ts';
import { Asked } from './asked.ts';
import type { Deps, Reader } from './deps.ts';
import { MIN_VERSION, type Parameter } from './parameters.ts';
import type { Schema } from './schema.ts';

export interface World extends Pick<Reader, 'catalog' | 'state' | 'counts'> {
  readonly nowMs: number;
}

export interface Found {
  readonly body: Readonly<Record<string, unknown>>;
  /** What a person sees in a table, where that is less, or other, than the body. */
  readonly shown?: Readonly<Record<string, unknown>>;
}

export interface Question {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly summary: string;
  /** Exactly one of these. */
  readonly choice?: readonly Parameter<unknown>[];
  readonly required?: readonly Parameter<unknown>[];
  readonly optional?: readonly Parameter<unknown>[];
  readonly body?: Schema;
  /** Of what is answered beside the version. */
  readonly answers: Schema;
  /** It can end in 404. */
  readonly isSearch?: true;
  /** Of the picture itself, whole or not: no version is waited for. */
  readonly isAboutFeed?: true;
  /** Of this function: it is the same at every version. */
  readonly isTimeless?: true;
  answer(asked: Asked, world: World, body: unknown): Found;
}

export function parametersOf(question: Question): readonly Parameter<unknown>[] {
  const { choice = [], required = [], optional = [] } = question;
  return [...choice, ...required, ...optional, ...(isOfVersion(question) ? [MIN_VERSION] : [])];
}

export const isOfVersion = ({ isAboutFeed, isTimeless }: Question): boolean =>
  isAboutFeed !== true && isTimeless !== true;

export function routeOf(question: Question): Route<Deps> {
  const { method, path, summary } = question;
  return {
    method,
    path,
    summary,
    handle: async ({ query, body }, { deps, signal, clock }): Promise<Answer> => {
      const asked = ask(question, query);
      if (isOfVersion(question)) {
        await deps.reach(asked.get(MIN_VERSION) ?? 0, signal);
      }
      const { catalog, state, counts } = deps.replica;
      const world = { catalog, state, counts, nowMs: clock.nowMs() };
      const found = question.answer(asked, world, body);
      return question.isTimeless === true ? { body: found.body } : stamped(found, state);
    },
  };
}

/** A picture that may be old says so. */
function stamped({ body, shown = body }: Found, state: Reader['state']): Answer {
  const { version, phase, isStale } = state;
  const head = {
    version,
    ...(phase === 'current' ? {} : { state: phase }),
    ...(isStale === true ? { isStale } : {}),
  };
  return { body: { ...head, ...body }, text: textOf({ ...head, ...shown }) };
}

function ask(question: Question, query: URLSearchParams): Asked {
  const asked = new Asked(query, parametersOf(question));
  const { choice = [], required = [] } = question;
  const missing = required.find((parameter) => asked.get(parameter) === undefined);
  if (missing !== undefined) {
    const message = `The parameter ${missing.name} is missing: ${missing.meaning}.`;
    throw new Failure('QUERY_INVALID', message, { field: missing.name });
  }
  const chosen = choice.filter((parameter) => asked.get(parameter) !== undefined);
  const names = choice.map(({ name }) => name).join(', ');
  if (choice.length > 0 && chosen.length === 0) {
    const message = `The question is missing; ask with one of ${names}.`;
    throw new Failure('QUERY_INVALID', message, { field: choice[0]?.name ?? '' });
  }
  const [first, second] = chosen;
  if (first !== undefined && second !== undefined) {
    const message = `${first.name} and ${second.name} are two questions; ask with one of ${names}.`;
    throw new Failure('QUERY_INVALID', message, { field: second.name });
  }
  return asked;
}
