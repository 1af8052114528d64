// Holds up what is taken back where the legacy object is gone: what was made may have all that is
// left of the data, and nothing of it is deleted. Pure.
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import type { CommonDecision } from './decision.ts';
import type { State } from './state.ts';

/** `more`: what else is to do by hand. */
export function awaitLegacy(
  { legacy }: Pick<State, 'legacy'>,
  { legacyUid }: TakeoverWork,
  more = '',
): CommonDecision | undefined {
  if (legacy?.uid === legacyUid && !legacy.isEnding) return undefined;
  const message =
    'The legacy EtcdCluster is gone, and its pods with it, so nothing leads back, and what was ' +
    'made is kept. If the new one is to go on, lead the Service of the clients to it (selector ' +
    `ballast.dev/etcd-cluster: its name).${more} Delete this Takeover then.`;
  const gone = { reason: 'LegacyGone', message };
  return waitFor('Roll it back', [gone], gone);
}
