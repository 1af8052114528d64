// Asks the API server whether it would let the first old server leave, before it is noted that
// nothing leads back.
import { cut } from '../../../shared/cut.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import { isUndoing } from '../records.ts';
import { type Changes, tryChange } from '../try-change.ts';
import { hasWayBack } from '../way-back.ts';
import { endServer } from './end-server.ts';
import { makerOf } from './made/makers.ts';
import { firstLeaving } from './move-clients.ts';
import { grantOf } from './refuse-config.ts';
import type { NatsState } from './state.ts';

const WHY_BYTES_MAX = 1_000;

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

function isTime({ takeover: { spec, status } }: NatsState): boolean {
  const { work, steps } = status;
  if (work === undefined || isUndoing(work) || spec.rollback === true) return false;
  return steps?.at(-1)?.name === 'MoveClients' && hasWayBack(work);
}

function refused(state: NatsState, why: string): Reason {
  const { namespace, spec } = state.takeover;
  const { words } = makerOf(spec.legacy);
  const message =
    `No server of ${words.object(`${namespace}/${spec.legacy.name}`)} could be ended: ` +
    `${cut(why, WHY_BYTES_MAX)} Have the API server let the function do that; it is granted by: ` +
    `${grantOf(state)} What was begun can be rolled back (spec.rollback: true).`;
  return { reason: 'LeaveRefused', message };
}
