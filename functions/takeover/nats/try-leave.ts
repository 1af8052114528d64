// Asks the API server whether it would let the first old server leave, before it is noted that
// nothing leads back.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { type Changes, isNext, tryChange } from '../try-change.ts';
import { hasWayBack } from '../way-back.ts';
import { endServer } from './end-server.ts';
import { makerOf } from './made/makers.ts';
import { firstLeaving } from './move-clients.ts';
import { grantOf } from './refuse-config.ts';
import type { NatsState } from './state.ts';

export async function tryLeave(
  kube: Changes,
  state: NatsState,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const step = isTime(state) ? firstLeaving(state) : undefined;
  if (step === undefined) return undefined;
  const why = await tryChange(kube, async (dry) => endServer(dry, state.takeover, step, signal));
  return why === undefined ? undefined : refused(state, why);
}

const isTime = ({ takeover }: NatsState): boolean =>
  isNext(takeover, 'MoveClients') &&
  takeover.status.work !== undefined &&
  hasWayBack(takeover.status.work);

function refused(state: NatsState, why: string): Reason {
  const { namespace, spec } = state.takeover;
  const { words } = makerOf(spec.legacy);
  const message =
    `No server of ${words.object(`${namespace}/${spec.legacy.name}`)} could be ended: ` +
    `${why} What was begun can be rolled back (spec.rollback: true); or have the API server let ` +
    `the function do that, and it goes on. Rights are granted by: ${grantOf(state)}`;
  return { reason: 'LeaveRefused', message };
}
