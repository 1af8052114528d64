// The questions of the page: the state of our objects with what is wrong, and pods and nodes since
// it asked last, for which it may wait a little.
import { Failure } from '../../shared/errors.ts';
import type { Route } from '../../shared/function/define.ts';
import { assetRoutes } from './assets.ts';
import type { Deps } from './deps.ts';

/** Below any deadline, and below what proxies wait in silence. */
const WAIT_MS = 15_000;
const MARK = /^(?<id>[0-9a-f-]{36})\.(?<next>\d{1,15})$/;

interface Mark {
  readonly id: string;
  readonly next: number;
}

export const routes: readonly Route<Deps>[] = [
  ...assetRoutes<Deps>(),
  {
    method: 'GET',
    path: '/api/state',
    summary: 'what is wrong and what to do, and each object of our kinds with its conditions',
    handle: async ({ query }, { deps }) => {
      markIn(query);
      return { body: await deps.state.read() };
    },
  },
  {
    method: 'GET',
    path: '/api/pods',
    summary: 'pods and nodes as they are, or since ?after=, for which it waits a little',
    handle: async ({ query }, { deps, clock, signal }) => {
      const { id, next: after } = markIn(query);
      const { pods, replica } = deps;
      await pods.wait(id, after, WAIT_MS, clock, signal);
      const { id: now, next, ...page } = pods.read(id, after);
      const { phase, behind } = replica.state;
      return { body: { after: `${now}.${next}`, phase, behind, ...page } };
    },
  },
];

/** The beginning when there is none. */
function markIn(query: URLSearchParams): Mark {
  const stranger = [...query.keys()].find((name) => name !== 'after');
  if (stranger !== undefined || query.getAll('after').length > 1) {
    throw invalid('There is the parameter after, once, and no other.');
  }
  const text = query.get('after');
  if (text === null) return { id: '', next: 0 };
  const { id, next } = MARK.exec(text)?.groups ?? {};
  if (id === undefined) throw invalid('The parameter after is what an answer had under that name.');
  return { id, next: Number(next) };
}

const invalid = (message: string): Failure =>
  new Failure('QUERY_INVALID', message, { field: 'after' });
