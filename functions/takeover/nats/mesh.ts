// How far servers of both are one NATS, and how many clients they have together. Pure.
import { listed } from '../../../shared/stateful/decision.ts';
import { SERVERS_MAX } from './ask-servers.ts';
import { answersOf, type AskedNew, type NatsState } from './state.ts';

type Told = Exclude<AskedNew, { readonly silent: string }>;

const hasTold = (asked: AskedNew): asked is Told => 'id' in asked;

/** New servers that answer, by their pods. */
const freshOf = ({ work }: NatsState): readonly (readonly [string, Told])[] =>
  [...(work?.fresh ?? [])].flatMap(([pod, asked]) => (hasTold(asked) ? [[pod, asked]] : []));

/** All new servers that there are to be say how they are. */
export const isFreshKnown = (state: NatsState): boolean =>
  freshOf(state).length === state.work?.cluster?.replicas;

/** A part of a sentence about a route that lacks; undefined where there is none. */
export function lackingRoutes(state: NatsState): string | undefined {
  const fresh = freshOf(state);
  for (const { pod } of answersOf(state)) {
    const known = new Set(state.work?.routes.get(pod));
    const missing = fresh.filter(([, { id }]) => !known.has(id)).map(([name]) => name);
    if (missing.length > 0) return `${pod} has no route to ${listed(missing)}`;
  }
  return undefined;
}

/** Old servers that run and do not tell whom they hear: their clients may be unheard. */
export function silentRunning(state: NatsState): readonly string[] {
  const answered = new Set(answersOf(state).map(({ pod }) => pod));
  const asked = state.pods.slice(0, SERVERS_MAX).filter(({ isRunning }) => isRunning);
  return asked.map(({ name }) => name).filter((name) => !answered.has(name));
}

/** Connections of clients to servers of both. */
export const clientsOf = (state: NatsState): number =>
  [...answersOf(state).map(({ answer }) => answer), ...freshOf(state).map(([, told]) => told)]
    .map(({ clients }) => clients)
    .reduce((sum, count) => sum + count, 0);
