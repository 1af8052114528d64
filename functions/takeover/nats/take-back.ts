// Takes a takeover of a NatsCluster back: clients are led to the old servers first, then the
// operator gets its replicas, and the new NatsCluster is deleted. Its claims stay, since somebody
// may have put a stream there meanwhile. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { waitFor } from '../../../shared/stateful/decision.ts';
import { awaitLate } from '../late.ts';
import type { Records } from '../records.ts';
import { endNow } from '../stages.ts';
import { restartOperators } from '../stop-operators.ts';
import type { NatsDecision } from './decision.ts';
import { isMerged, isNewSelected, isOldSelected, notLedBack, portsElsewhere } from './led.ts';
import { legacyGone } from './legacy-gone.ts';
import { answersOf, type NatsState, saidBy } from './state.ts';

export function takeBackNats(state: NatsState, records: Records): NatsDecision {
  const { legacy, nowMs } = state;
  if (legacy?.uid !== records.work.legacyUid || legacy.isEnding) {
    return stuck(legacyGone(state, records));
  }
  return (
    leadBack(state, records) ??
    restartOperators(state, records.work) ??
    // A client that is led over late finds the new servers until it is led back.
    awaitLate(records, nowMs) ??
    deleteCluster(state) ??
    goneParts(state) ??
    endNow(records, nowMs)
  );
}

const stuck = (trouble: Reason): NatsDecision => waitFor('Roll it back', [trouble], trouble);

function silent(state: NatsState): Reason {
  const { client } = state;
  const why = saidBy(state).join(' ') || 'no pod is left';
  const message =
    `No old server answers (${why}), so clients are not led back: Service ${client?.name ?? ''} ` +
    'leads to the new ones. Bring one back, and it goes on.';
  return { reason: 'ServersSilent', message };
}

/** From a selector of both it goes by way of the new servers: no other change is allowed to us. */
function leadBack(state: NatsState, records: Records): NatsDecision | undefined {
  const { client, takeover } = state;
  if (client === undefined) return stuck(notLedBack(state, records));
  if (isOldSelected(client, records)) {
    const elsewhere = portsElsewhere(state);
    return elsewhere && stuck(elsewhere);
  }
  const { name, uid } = client;
  if (isMerged(state, records)) {
    const next = `Lead Service ${name} to somebody again`;
    return { step: { type: 'lead-over', service: client }, next };
  }
  const isLed = uid === records.work.service.uid && isNewSelected(client, takeover);
  if (!isLed) return stuck(notLedBack(state, records));
  if (answersOf(state).length === 0) return stuck(silent(state));
  return { step: { type: 'lead-back', service: client }, next: `Lead Service ${name} back` };
}

function deleteCluster({ work: seen }: NatsState): NatsDecision | undefined {
  const found = seen?.cluster;
  if (found?.isOurs !== true) return undefined;
  const next = `Delete NatsCluster ${found.name}`;
  if (!found.isEnding) return { step: { type: 'delete-nats-cluster', found }, next };
  const message = `NatsCluster ${found.name} is being deleted.`;
  return waitFor(next, [{ reason: 'Ending', message }]);
}

const PARTS = /^(?:StatefulSet|Service) /;

/** They go with the NatsCluster. */
function goneParts({ taken, work: seen }: NatsState): NatsDecision | undefined {
  const parts = seen?.cluster === undefined ? taken.filter((one) => PARTS.test(one)) : [];
  if (parts.length === 0) return undefined;
  const message = `${parts.join(', ')} are going.`;
  return waitFor('Let the new NatsCluster go', [{ reason: 'Ending', message }]);
}
