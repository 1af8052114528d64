// The objects and steps of a takeover in which members of the new EtcdCluster join the old ones,
// and the old ones leave. Writers go on all the time. Pure.
import { claimName, headlessName } from '../../../shared/api/etcd-names.ts';
import type { PlannedObject, PlannedStep } from '../../../shared/api/takeover.ts';
import { hexOf } from '../../../shared/etcd/admin/ids.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import { answersOf } from '../answers.ts';
import type { LegacyEtcd } from '../legacy.ts';
import { newPeers } from '../own-cluster.ts';
import { make } from '../planned-objects.ts';
import { deletesLegacy, orphanClaims, stopOperators, switchesService } from '../planned-steps.ts';
import type { State } from '../state.ts';

export function madeToJoin(state: State, { name: from }: LegacyEtcd): readonly PlannedObject[] {
  const { name } = state.takeover.spec.into;
  return [
    make(
      'EtcdCluster',
      name,
      `Its members join those of ${from}, and go on with its data; it makes its own Services, ` +
        `${name} and ${headlessName(name)}.`,
    ),
    ...newPeers(state).map((peer) =>
      make('PersistentVolumeClaim', claimName(peer), `Member ${peer} copies the data into it.`),
    ),
  ];
}

export function stepsToJoin(state: State): readonly PlannedStep[] {
  const { legacy, takeover, client } = state;
  if (legacy === undefined) return [];
  const { name } = takeover.spec.into;
  const old = listed(state.pods.map((pod) => pod.name));
  return [
    ...stopOperators(state),
    {
      name: 'JoinMembers',
      does:
        `${listed(newPeers(state))} join as members that vote, one after another; a learner ` +
        'comes from 3.4 on alone. EtcdCluster ' +
        `${name} starts each once it is in the list of members.`,
      precondition:
        `Every member of cluster ${clusterIdIn(state)} answers and knows its leader, and so does ` +
        'each that has joined.',
    },
    {
      ...switchesService(state, legacy),
      precondition:
        `All that were to join have what the leader has, and the Service has uid ` +
        `${client?.uid ?? 'unknown'} and its selector.`,
    },
    {
      name: 'LeaveMembers',
      does:
        `${old} leave, one after another, the leader last, after it has handed over. Each ends ` +
        'by itself, and nobody starts it again.',
      precondition: 'Every member that stays answers, and more than half of all do without it.',
      noWayBack: true,
    },
    ...orphanClaims(state),
    {
      ...deletesLegacy(legacy),
      precondition:
        `It has uid ${legacy.uid}, no member of it is in the list of members, no claim and no ` +
        `client Service belongs to it, and EtcdCluster ${name} is Ready.`,
    },
  ];
}

function clusterIdIn(state: State): string {
  const id = answersOf(state)[0]?.answer.status.header.clusterId;
  return id === undefined ? 'unknown' : hexOf(id);
}
