// Holds up what is taken back where the legacy object is gone: what was made may have all that is
// left of the data, and nothing of it is deleted. Pure.
import { ETCD_CLUSTER_LABEL } from '../../shared/api/etcd-cluster.ts';
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import type { CommonDecision } from './decision.ts';
import type { State } from './state.ts';

/** `more`: what else is to do by hand. */
export function awaitLegacy(
  { legacy, takeover }: Pick<State, 'legacy' | 'takeover'>,
  { legacyUid }: TakeoverWork,
  more = '',
): CommonDecision | undefined {
  if (legacy?.uid === legacyUid && !legacy.isEnding) return undefined;
  const { name, status, spec } = takeover;
  const { name: service = '' } = status.work?.service ?? {};
  const message =
    `The legacy EtcdCluster ${spec.legacy.name} is gone, and its pods with it, so nothing leads ` +
    `back, and what was made is kept. If EtcdCluster ${spec.into.name} is to go on, lead Service ` +
    `${service} to it (selector ${ETCD_CLUSTER_LABEL}: ${spec.into.name}, and no other).${more} ` +
    `Delete Takeover ${name} then.`;
  const gone = { reason: 'LegacyGone', message };
  return waitFor('Roll it back', [gone], gone);
}
