// The objects and steps of a takeover that gives the data up: an empty EtcdCluster is made, clients
// are led to it, and the old one goes. Pure.
import { claimName, headlessName } from '../../../shared/api/etcd-names.ts';
import type { PlannedObject, PlannedStep } from '../../../shared/api/takeover.ts';
import { isQuorate } from '../frozen.ts';
import { newPeers } from '../own-cluster.ts';
import { make } from '../planned-objects.ts';
import { deletesLegacy, orphanClaims, stopOperators, switchesService } from '../planned-steps.ts';
import type { State } from '../state.ts';

export function madeToWipe(state: State): readonly PlannedObject[] {
  const { name } = state.takeover.spec.into;
  return [
    make(
      'EtcdCluster',
      name,
      `Is born empty; it makes its own Services, ${name} and ${headlessName(name)}.`,
    ),
    ...newPeers(state).map((peer) =>
      make('PersistentVolumeClaim', claimName(peer), `Member ${peer} begins with nothing in it.`),
    ),
  ];
}

export function stepsToWipe(state: State): readonly PlannedStep[] {
  const { legacy, takeover, client, members } = state;
  if (legacy === undefined) return [];
  const { name } = takeover.spec.into;
  const isStopped = members !== undefined && !isQuorate(state);
  return [
    ...stopOperators(state),
    {
      name: 'MakeCluster',
      does: `EtcdCluster ${name} is made, and nothing is brought into it.`,
      precondition: `spec.wipe is ${legacy.name}, and there is no claim of a member of ${name}.`,
    },
    {
      ...switchesService(state, legacy),
      precondition:
        `EtcdCluster ${name} is Ready, and the Service has uid ${client?.uid ?? 'unknown'} and ` +
        'its selector.',
      // Nobody who can write now is stopped, and what he writes is lost.
      ...(isStopped ? { writers: 'GoOn' as const } : {}),
      noWayBack: true,
    },
    ...orphanClaims(state),
    {
      ...deletesLegacy(legacy),
      precondition:
        `It has uid ${legacy.uid}, no claim and no client Service belongs to it, and EtcdCluster ` +
        `${name} is Ready.`,
    },
  ];
}
