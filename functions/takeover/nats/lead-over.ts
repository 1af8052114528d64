// Joins servers of both by routes, and leads the Service of the clients over, and back on rollback.
// Pure.
import { listed, waitFor } from '../../../shared/stateful/decision.ts';
import type { Records } from '../records.ts';
import { SERVERS_MAX } from './ask-servers.ts';
import type { NatsDecision } from './decision.ts';
import { type LegacyNats, routeOf } from './legacy.ts';
import { isFreshKnown, lackingRoutes, silentRunning } from './mesh.ts';
import { answersOf, type NatsState } from './state.ts';
import { hasWayBack } from '../way-back.ts';

export function leadOver(state: NatsState, { work }: Records): NatsDecision {
  const { client, leadRefused } = state;
  const { name } = work.service;
  const next = `Lead Service ${name} to the new servers`;
  if (leadRefused !== undefined) return waitFor(next, [leadRefused], leadRefused);
  if (client !== undefined) return { step: { type: 'lead-over', service: client }, next };
  return waitFor(next, [{ reason: 'ServiceMissing', message: `Service ${name} is gone.` }]);
}

/** To those that there were when the plan was confirmed; they tell of the others. */
const routesTo = (legacy: LegacyNats, { work }: Records): readonly string[] =>
  (work.servers ?? []).slice(0, SERVERS_MAX).map(({ name }) => routeOf(legacy, name));

const hasRoutes = ({ legacy, work: seen }: NatsState, records: Records): boolean => {
  const has = new Set(seen?.cluster?.extraRoutes);
  return legacy !== undefined && routesTo(legacy, records).every((one) => has.has(one));
};

/**
 * A message that is published on one side is heard on the other. Once old servers leave, those that
 * are left need not answer.
 */
export function isJoined(state: NatsState, records: Records): boolean {
  if (state.pods.length === 0) return true;
  const isSeen =
    !hasWayBack(records.work) || (answersOf(state).length > 0 && silentRunning(state).length === 0);
  return (
    isSeen && hasRoutes(state, records) && isFreshKnown(state) && lackingRoutes(state) === undefined
  );
}

/** Servers connect within a second; later a person has to look what keeps them from it. */
const JOINED_WITHIN_MS = 120_000;

/** A part of a sentence about a server of which nobody knows whom it hears. */
function unheardOf(state: NatsState): string {
  const running = silentRunning(state);
  if (running.length > 0) return `${listed(running)} runs and does not answer on port 8222`;
  return answersOf(state).length === 0 ? 'no old server answers' : 'not all new servers answer';
}

export function joinRoutes(state: NatsState, records: Records): NatsDecision {
  const { legacy, work: seen, nowMs } = state;
  const next = 'Route the servers of both';
  if (legacy !== undefined && seen?.cluster !== undefined && !hasRoutes(state, records)) {
    const routes = routesTo(legacy, records);
    return { step: { type: 'set-routes', cluster: seen.cluster, routes }, next };
  }
  const waits = {
    reason: 'RoutesMissing',
    message:
      `Not every server is heard by all others yet: ${lackingRoutes(state) ?? unheardOf(state)}. ` +
      'Nobody is led over before. A NetworkPolicy that keeps them off each other is to let ports ' +
      '6222 and 8222 through; a server that nobody brings back is to end.',
  };
  const began = records.steps.find(({ name }) => name === 'JoinRoutes')?.startedAt ?? '';
  const isLate = nowMs - Date.parse(began) > JOINED_WITHIN_MS;
  return waitFor(next, [waits], isLate ? waits : undefined);
}

export const isUnrouted = ({ work: seen }: NatsState): boolean =>
  seen?.cluster?.extraRoutes.length === 0;

export function leaveRoutes({ work: seen }: NatsState): NatsDecision {
  const next = 'Take the routes to the old servers out';
  if (seen?.cluster === undefined) return waitFor(next, []);
  return { step: { type: 'set-routes', cluster: seen.cluster, routes: [] }, next };
}
