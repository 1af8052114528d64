// Obstacles that a person put meanwhile in the way of a plan of an EtcdCluster. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { serviceChanged, SPEC_CHANGED } from './blocked.ts';
import { claimsGo, refuseUncounted } from './claims-go.ts';
import { ledElsewhere } from './find-led.ts';
import { isSwitched, newSelectorOf } from './lead-over.ts';
import { intoOf, type Records, selectorText } from './records.ts';
import { refuseAccess } from './refuse-secrets.ts';
import { isBegun } from './stages.ts';
import type { State } from './state.ts';
import { unseenOperator } from './stop-operators.ts';
import { wipes } from './wipe/mode.ts';

/** The plan was about another thing than there is now: only a person can say what to do. */
export function obstacleTo(state: State, records: Records): Reason | undefined {
  const { legacy, client, takeover } = state;
  const { work } = records;
  const isDeleting = isBegun(records, 'DeleteLegacy');
  if (isDeleting && legacy === undefined) {
    return isSwitched(state) ? undefined : ledElsewhere(work, newSelectorOf(takeover));
  }
  if (legacy?.uid !== work.legacyUid || (legacy.isEnding && !isDeleting)) return LEGACY_GONE;
  // Where the data are given up nobody is asked.
  const access = wipes(state) ? [] : refuseAccess(state);
  // Nothing is deleted in the look in which that is begun.
  const uncounted = isDeleting ? refuseUncounted(state) : [];
  const [lacking] = [...access, ...claimsGo(state), ...uncounted];
  if (lacking !== undefined) return lacking;
  const unseen = unseenOperator(state, work);
  if (unseen !== undefined) return unseen;
  if (isSwitched(state)) return undefined;
  if (intoOf(takeover) !== work.into) return SPEC_CHANGED;
  const { service } = work;
  const isSame = client?.uid === service.uid && selectorText(client.selector) === service.selector;
  return isSame ? undefined : serviceChanged(records, client, 'where clients write');
}

const LEGACY_GONE: Reason = {
  reason: 'LegacyGone',
  message:
    'Somebody deleted the legacy EtcdCluster while it was taken over, and its pods go with it. ' +
    'What was made stays: see status.steps and the new EtcdCluster. Claims with an owner are ' +
    'deleted, too; back up a member that still answers.',
};
