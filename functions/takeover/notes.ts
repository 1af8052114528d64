// Things to know of a takeover that do not speak against it. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { listed } from '../../shared/stateful/decision.ts';
import { answersOf, silentOf } from './answers.ts';
import { directClients } from './direct-clients.ts';
import { joins } from './join/mode.ts';
import { notesToJoin } from './join/notes.ts';
import type { LegacyEtcd } from './legacy.ts';
import { operatorOf } from './legacy/operators.ts';
import { lostNames } from './lost-names.ts';
import { givenIn } from './read-secrets.ts';
import type { Seen, State } from './state.ts';
import { wipes } from './wipe/mode.ts';
import { notesToWipe } from './wipe/notes.ts';

const STOPPED = 'stopped as all others and not led over';

export function notesOf(state: State): readonly Reason[] {
  const { legacy } = state;
  if (legacy === undefined) return [];
  return [
    ...operatorNotes(state),
    ...(wipes(state) ? [] : [...emptyDirs(state, legacy), ...away(state)]),
    ...elsewhere(state),
    ...size(state, legacy),
    ...strangerNotes(state),
    ...itsNotes(state, legacy),
    ...otherNames(state, legacy),
    ...operatorOf(state.takeover.spec.legacy).notes(state, legacy),
    ...unasked(state),
  ];
}

/** In the way in which data comes over. */
function itsNotes(state: State, legacy: LegacyEtcd): readonly Reason[] {
  if (joins(state)) return notesToJoin(legacy);
  return wipes(state) ? notesToWipe(state, legacy) : [directClients(legacy, STOPPED)];
}

export function operatorNotes({ operators: found }: Seen): readonly Reason[] {
  return found
    .filter(({ replicas }) => replicas > 0)
    .map(({ namespace, name, replicas }) => ({
      reason: 'OperatorRuns',
      message:
        `Deployment ${namespace}/${name} has ${replicas} replicas: while it runs it ` +
        `would replace ` +
        'pods and Services under a takeover, so it is stopped first. Other clusters of ' +
        'it are not ' +
        'looked after meanwhile.',
    }));
}

function emptyDirs({ pods }: State, { statefulSet }: LegacyEtcd): readonly Reason[] {
  const names = pods.filter(({ claim }) => claim === undefined).map(({ name }) => name);
  if (names.length === 0) return [];
  const message =
    `The data of ${listed(names)} is in an emptyDir, and goes with the pod: do not delete ` +
    `${names.length === 1 ? 'it' : 'them'} before all is taken over. ` +
    (statefulSet === undefined ? 'Nobody makes another pod.' : 'Another pod begins without it.');
  return [{ reason: 'EmptyDir', message }];
}

function away(state: State): readonly Reason[] {
  const silent = silentOf(state);
  const isQuorate = answersOf(state).some(({ answer }) => answer.isQuorate);
  if (silent.length === 0 || !isQuorate) return [];
  const message = `${listed(silent)} does not answer; a quorum stands without it.`;
  return [{ reason: 'MembersAway', message }];
}

function elsewhere(state: State): readonly Reason[] {
  const here = new Set(state.pods.map(({ member }) => member));
  const known = answersOf(state).flatMap(({ answer }) => answer.members);
  const names = [...new Set(known.map(({ name, id }) => name || `an unstarted member ${id}`))];
  const others = names.filter((name) => !here.has(name));
  if (others.length === 0) return [];
  const message =
    `Of its members ${listed(others.toSorted())} has no pod here, and ` +
    `counts as one that is down.`;
  return [{ reason: 'MembersElsewhere', message }];
}

function size({ target }: State, legacy: LegacyEtcd): readonly Reason[] {
  const { replicas } = target.wanted;
  if (legacy.size === undefined || legacy.size === replicas) return [];
  const message =
    `It has size ${legacy.size}, and the new EtcdCluster ${String(replicas)} members: an even ` +
    'number bears the loss of no more than one less.';
  return [{ reason: 'SizeDiffers', message: replicas === legacy.size + 1 ? message : chosen }];
}

const chosen = 'The new EtcdCluster has another number of members, as spec.into.spec says.';

export function strangerNotes({ strangers: found }: Seen): readonly Reason[] {
  if (found.length === 0) return [];
  const message =
    `Pods ${listed(found)} have its label and are not its own: its Services may lead to ` +
    'them, too. They are left alone.';
  return [{ reason: 'Strangers', message }];
}

function otherNames(state: State, legacy: LegacyEtcd): readonly Reason[] {
  const lost = lostNames(state, legacy);
  if (lost.length === 0) return [];
  const message =
    `The old members have a certificate for ${listed(lost)} as well, and the new ones would have ` +
    `none: clients that dial that would be cut off. Have tls.crt of Secret ` +
    `${legacy.namespace}/${givenIn(state.target)} signed for it, too, if there are any.`;
  return [{ reason: 'NamesDiffer', message }];
}

function unasked({ members }: State): readonly Reason[] {
  if (members !== undefined) return [];
  const message =
    'The members were not asked from here, so that quorum, versions and sizes are not known; the ' +
    'function takeover asks them once there is a Takeover.';
  return [{ reason: 'MembersUnasked', message }];
}
