// A route of this function: its parameters and its answers. A request is checked first, then the
// replica has to be fresh enough, then the answer is read from one state of it.
import { Failure } from '../../shared/errors.ts';
import type { Answer, Route } from '../../shared/function/define.ts';
import { textOf } from '../../shared/function/table.ts';
import { Query } from './query.ts';
import type { Deps, Reader } from './deps.ts';
import { MIN_VERSION, type Parameter } from './parameters.ts';
import type { Schema } from './schema.ts';

export interface Observation extends Pick<Reader, 'catalog' | 'state' | 'counts'> {
  readonly nowMs: number;
}

export interface Result {
  readonly body: Readonly<Record<string, unknown>>;
  /** The table that a person sees, when it differs from the body. */
  readonly shown?: Readonly<Record<string, unknown>>;
}

export interface QueryRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly summary: string;
  /** Exactly one of these. */
  readonly choice?: readonly Parameter<unknown>[];
  readonly required?: readonly Parameter<unknown>[];
  readonly optional?: readonly Parameter<unknown>[];
  readonly body?: Schema;
  /** The answer without its version. */
  readonly answers: Schema;
  /** It can end in 404. */
  readonly isSearch?: true;
  /** It is about the replica itself, caught up or not, so it waits for no version. */
  readonly isAboutFeed?: true;
  /** It is about this function, and the same at every version. */
  readonly isTimeless?: true;
  answer(query: Query, observation: Observation, body: unknown): Result;
}

export function parametersOf(route: QueryRoute): readonly Parameter<unknown>[] {
  const { choice = [], required = [], optional = [] } = route;
  return [...choice, ...required, ...optional, ...(isOfVersion(route) ? [MIN_VERSION] : [])];
}

export const isOfVersion = ({ isAboutFeed, isTimeless }: QueryRoute): boolean =>
  isAboutFeed !== true && isTimeless !== true;

export function routeOf(route: QueryRoute): Route<Deps> {
  const { method, path, summary } = route;
  return {
    method,
    path,
    summary,
    handle: async ({ query: parameters, body }, { deps, signal, clock }): Promise<Answer> => {
      const query = readQuery(route, parameters);
      if (isOfVersion(route)) {
        await deps.reach(query.get(MIN_VERSION) ?? 0, signal);
      }
      const { catalog, state, counts } = deps.replica;
      const observation = { catalog, state, counts, nowMs: clock.nowMs() };
      const found = route.answer(query, observation, body);
      return route.isTimeless === true ? { body: found.body } : stamped(found, state);
    },
  };
}

/** The answer says so when the replica may be old. */
function stamped({ body, shown = body }: Result, state: Reader['state']): Answer {
  const { version, phase, isStale } = state;
  const head = {
    version,
    ...(phase === 'current' ? {} : { state: phase }),
    ...(isStale === true ? { isStale } : {}),
  };
  return { body: { ...head, ...body }, text: textOf({ ...head, ...shown }) };
}

function readQuery(route: QueryRoute, parameters: URLSearchParams): Query {
  const query = new Query(parameters, parametersOf(route));
  const { choice = [], required = [] } = route;
  const missing = required.find((parameter) => query.get(parameter) === undefined);
  if (missing !== undefined) {
    const message = `The parameter ${missing.name} is missing: ${missing.meaning}.`;
    throw new Failure('QUERY_INVALID', message, { field: missing.name });
  }
  const chosen = choice.filter((parameter) => query.get(parameter) !== undefined);
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
  return query;
}
