// Servers that accept none of the known passwords cannot be reached over NATS, and a restart might
// lose streams. The configuration is written again, and a person has the servers read it. Pure.
import { listed, waitFor } from '../../shared/stateful/decision.ts';
import type { Decision } from './decision.ts';
import { PID_FILE } from './render/config.ts';
import { expected, type State } from './state.ts';

export function reportRefusedPasswords(state: State): Decision | undefined {
  const { cluster, nats } = state;
  const { refusingPassword = [] } = nats;
  const names = expected(state).filter(
    (one) => refusingPassword.includes(one) && !nats.servers.has(one),
  );
  if (names.length === 0) return undefined;
  const { namespace, name } = cluster;
  const message =
    `${listed(names)} do not take the password in Secret ${name}-system; Secrets ${name}-system ` +
    `and ${name}-config were lost or edited together. The file is written anew, and in the pods ` +
    `two minutes later. Then have each of them read it, which restarts nothing: for pod in ` +
    `${names.join(' ')}; do kubectl -n ${namespace} exec $pod -c nats -- nats-server --signal ` +
    `reload=${PID_FILE}; done`;
  const blocker = { reason: 'PasswordRefused', message };
  return waitFor('Nothing', [blocker], blocker);
}
