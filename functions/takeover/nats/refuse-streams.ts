// Reasons against a takeover of servers that keep streams, by what they were told and by what they
// say. It is asked until servers leave, since a reload is enough to begin with it. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import type { LegacyNats } from './legacy.ts';
import { answersOf, configOf, type NatsState } from './state.ts';

export function refuseStreams(state: NatsState, { name, spec }: LegacyNats): readonly Reason[] {
  const templates = spec['volumeClaimTemplates'];
  const isTold =
    configOf(state)?.hasStreams === true || (Array.isArray(templates) && templates.length > 0);
  const keeping = answersOf(state).flatMap(({ pod, answer }) => (answer.hasStreams ? [pod] : []));
  if (!isTold && keeping.length === 0) return [];
  const which = keeping.length === 0 ? '' : `, as ${listed(keeping)} says`;
  const message =
    `The servers of ${name} keep streams (JetStream)${which}, and nothing leads these over: ` +
    'JetStream of old and new servers, routed under one name, would become one. Make a ' +
    'NatsCluster by hand, back each stream up and restore it there (nats stream backup, nats ' +
    'stream restore) while nobody writes to it, and lead the clients over; or stay with these ' +
    'servers.';
  return [{ reason: 'JetStreamOn', message }];
}
