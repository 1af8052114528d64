// The note that nobody knows whether servers of a chart run on what stands in their configuration.
// Pure.
import type { Reason } from '../../../../shared/kube/conditions.ts';
import { listed } from '../../../../shared/stateful/decision.ts';
import { restartLine } from '../refuse-loaded.ts';
import { answersOf, type NatsState } from '../state.ts';

export function notLoadedNotes(state: NatsState): readonly Reason[] {
  const { config } = state;
  const known = config.is === 'found' ? config.digests : undefined;
  const untold = answersOf(state).flatMap(({ pod, answer }) =>
    answer.digest === undefined || known?.has(pod) !== true ? [pod] : [],
  );
  if (untold.length === 0) return [];
  const message =
    `Nobody can tell whether ${listed(untold)} has loaded what stands in its configuration; ` +
    'servers before 2.11 do not say. Users and passwords are taken as the ConfigMap and Secrets ' +
    'have them: if one of these was changed since the pods were started, start them anew before ' +
    `(${restartLine(state)}), or clients that go by the former ones will be refused.`;
  return [{ reason: 'PasswordsAsOfNow', message }];
}
