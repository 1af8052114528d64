// Things to know of a takeover of a NatsCluster that do not speak against it. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import { operatorNotes, strangerNotes } from '../notes.ts';
import type { LegacyNats } from './legacy.ts';
import { makerOf } from './made/makers.ts';
import { answersOf, type NatsState, silentOf } from './state.ts';

export function notesOfNats(state: NatsState): readonly Reason[] {
  const { legacy } = state;
  if (legacy === undefined) return [];
  return [
    ...operatorNotes(state),
    ...makerOf(state.takeover.spec.legacy).notes(state, legacy),
    ...away(state),
    ...size(state, legacy),
    ...strangerNotes(state),
    direct(legacy),
    RECONNECT,
    ...unasked(state),
  ];
}

function away(state: NatsState): readonly Reason[] {
  const silent = silentOf(state);
  if (silent.length === 0 || answersOf(state).length === 0) return [];
  return [{ reason: 'MembersAway', message: `${listed(silent)} does not answer.` }];
}

function size({ target, pods }: NatsState, { size: said }: LegacyNats): readonly Reason[] {
  const replicas = target.spec?.replicas;
  if (replicas === undefined || (replicas === said && replicas === pods.length)) return [];
  const message =
    `The legacy object says ${said ?? 'no'} servers, ${pods.length} are there, and the new ` +
    `NatsCluster would have ${replicas}.`;
  return [{ reason: 'SizeDiffers', message }];
}

const direct = (legacy: LegacyNats): Reason => ({
  reason: 'DirectClients',
  message:
    'Clients that connect to pods by their addresses, or by names of Service ' +
    `${legacy.routeService}, are not led over: lead them to the client Service before.`,
});

const RECONNECT: Reason = {
  reason: 'ClientsReconnect',
  message:
    'Clients connect anew when their server goes, by their own library. What is published ' +
    'meanwhile for one that is away is lost to it, as at each restart of a server: this NATS ' +
    'keeps nothing. Clients that give up after some tries (maxReconnectAttempts) end.',
};

function unasked({ servers }: NatsState): readonly Reason[] {
  if (servers !== undefined) return [];
  const message =
    'The servers were not asked from here, so that their versions and what they run on are not ' +
    'known; the function takeover asks them once there is a Takeover.';
  return [{ reason: 'MembersUnasked', message }];
}
