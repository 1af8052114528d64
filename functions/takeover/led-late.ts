// A patch of the Service may be on its way while it is noted back that nobody is led over: another
// instance may have asked for it just before. Until it cannot come any more nothing is taken back,
// and where it came all goes on from there. Pure.
import { waitFor } from '../../shared/stateful/decision.ts';
import type { Decision } from './decision.ts';
import { awaitLate } from './late.ts';
import { isSwitched } from './lead-over.ts';
import type { Records } from './records.ts';
import type { State } from './state.ts';
import { hasWayBack, noteNoWayBack } from './way-back.ts';

export function ledLate(state: State, { work, steps }: Records): Decision | undefined {
  const { serviceVersion, rollingBackAt, undoing } = work;
  if (serviceVersion === undefined || !hasWayBack(work) || undoing !== undefined) return undefined;
  if (isSwitched(state)) return goOn(state, { work, steps });
  const isAsNoted = state.client?.resourceVersion === serviceVersion;
  if (rollingBackAt === undefined || !isAsNoted) return undefined;
  return awaitLate({ work, steps }, state.nowMs);
}

/** The definition lets nobody write both. */
function goOn({ takeover, nowMs }: State, { work, steps }: Records): Decision {
  const next = 'Go on, since clients are led over';
  if (takeover.spec.rollback === true) return waitFor(next, [LED_OVER], LED_OVER);
  const { rollingBackAt: _, ...rest } = work;
  return noteNoWayBack({ work: rest, steps }, nowMs, next);
}

const LED_OVER = {
  reason: 'LedOver',
  message:
    'Clients were led over just before it was rolled back, and may have written to the new ' +
    'cluster, so nothing is taken back. Take spec.rollback out, and it goes on.',
};
