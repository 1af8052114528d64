// Reasons against a takeover of servers that run on something else than what is written down:
// nobody may have had them reload it. It is asked again before passwords are copied. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import { answersOf, configOf, type NatsState } from './state.ts';

export function refuseLoaded(state: NatsState): readonly Reason[] {
  const config = configOf(state);
  if (config === undefined) return [];
  const answers = answersOf(state);
  const differing = answers
    .filter(
      ({ answer: { asksLogin, asksTls } }) =>
        asksLogin === config.isOpen || asksTls !== config.hasTls,
    )
    .map(({ pod }) => pod);
  if (differing.length > 0) {
    const message =
      `What ${listed(differing)} asks of clients, logins or TLS, is not what their configuration ` +
      'says. Have servers reload it (nats-server --signal reload in the pod), or write it as it ' +
      'was.';
    return [{ reason: 'ConfigNotLoaded', message }];
  }
  const others = answers.filter(({ pod, answer }) => differs(state, pod, answer.digest));
  if (others.length === 0) return [];
  const message =
    `${listed(others.map(({ pod }) => pod))} has not loaded what stands in its configuration, or ` +
    'has other passwords than the Secrets of its variables have by now, so clients would be ' +
    `refused. Start its pods anew (${restartLine(state)}), or write it as it was.`;
  return [{ reason: 'ConfigNotLoaded', message }];
}

/** Servers of a StatefulSet alone tell what they have loaded. */
export const restartLine = ({ takeover: { namespace, spec } }: NatsState): string =>
  `kubectl -n ${namespace} rollout restart statefulset ${spec.legacy.name}`;

/** Only where both are known. */
function differs({ config }: NatsState, pod: string, loaded: string | undefined): boolean {
  const wanted = config.is === 'found' ? config.digests?.get(pod) : undefined;
  return wanted !== undefined && loaded !== undefined && wanted !== loaded;
}
