// The word for a legacy NATS that somebody deleted while it was taken over, or taken back: its pods
// go with it, and all that was made is kept. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import type { Records } from '../records.ts';
import { isLedOver, newSelectorOf, patchOf } from './led.ts';
import { makerOf } from './made/makers.ts';
import type { NatsState } from './state.ts';

export function legacyGone(state: NatsState, { work }: Records): Reason {
  const { legacy } = state.takeover.spec;
  const which = makerOf(legacy).words.object(legacy.name);
  const message =
    `Somebody has deleted ${which} (uid ${work.legacyUid}), and its pods go with it, so nothing ` +
    `leads back. ${onward(state, work.service.name)}`;
  return { reason: 'LegacyGone', message };
}

function onward(state: NatsState, service: string): string {
  const { takeover, work: seen } = state;
  const { name } = takeover.spec.into;
  if (seen?.cluster === undefined) {
    return (
      `NatsCluster ${name} is not there: delete Takeover ${takeover.name}, make one by hand, ` +
      'and lead the clients to it.'
    );
  }
  const kept = `NatsCluster ${name} is kept`;
  const end = `Delete Takeover ${takeover.name}`;
  if (isLedOver(state)) return `${kept}, and Service ${service} leads to it. ${end}.`;
  return (
    `${kept}. ${end}, and lead Service ${service} there, or make one of that name if it went, ` +
    `too: ${patchOf(takeover, service, newSelectorOf(takeover))}`
  );
}
