// The steps of a takeover by snapshot and restore, in their order, each with what has to hold for
// it. Pure.
import type { PlannedStep } from '../../shared/api/takeover.ts';
import { sourceOf } from './answers.ts';
import { clientServiceOf, type LegacyEtcd } from './legacy.ts';
import type { State } from './state.ts';

export function plannedSteps(state: State): readonly PlannedStep[] {
  const { legacy } = state;
  if (legacy === undefined) return [];
  return [...stop(state), ...copy(state, legacy), ...lead(state, legacy)];
}

const stop = ({ operators }: State): readonly PlannedStep[] =>
  operators
    .filter(({ replicas }) => replicas > 0)
    .map(({ namespace, name, uid, replicas }) => ({
      name: 'StopOperator',
      does: `Deployment ${namespace}/${name} gets 0 replicas, so that it does not fight.`,
      precondition: `It has uid ${uid} and ${replicas} replicas.`,
    }));

function copy(state: State, legacy: LegacyEtcd): readonly PlannedStep[] {
  const { client, takeover } = state;
  const service = clientServiceOf(legacy);
  const source = sourceOf(state);
  const from = source === undefined ? 'a member that answers' : source.pod;
  const id = source && BigInt(source.answer.status.header.memberId).toString(16);
  return [
    {
      name: 'FreezeWriters',
      does: `Service ${service} leads to nobody, and it is awaited that the revision stands still.`,
      precondition: `It has uid ${client?.uid ?? 'unknown'} and its selector, and a quorum stands.`,
      writers: 'Stop',
    },
    {
      name: 'Snapshot',
      does: `A Job takes a snapshot of ${from}, checks it, and restores it with a higher revision.`,
      precondition:
        id === undefined ? 'A quorum stands.' : `It is member ${id}, and a quorum stands.`,
    },
    {
      name: 'Compare',
      does: 'Every key is compared with the old cluster at the revision of the snapshot.',
      precondition: 'The revision of the old cluster is that of the snapshot still.',
    },
    {
      name: 'MakeCluster',
      does: `EtcdCluster ${takeover.spec.into.name} starts on what was restored, and members join.`,
      precondition: 'No key differs.',
    },
  ];
}

function lead({ client, claims, takeover }: State, legacy: LegacyEtcd): readonly PlannedStep[] {
  const { name } = takeover.spec.into;
  const service = clientServiceOf(legacy);
  const owned = claims.filter(({ isOwned }) => isOwned).length;
  const orphan: PlannedStep = {
    name: 'OrphanClaims',
    does: `${owned} claims lose their owner, so that they stay.`,
    precondition: 'Each has the uid and the owner that it was seen with.',
  };
  return [
    {
      name: 'SwitchService',
      does: `Service ${service} leads to EtcdCluster ${name}, and no longer has an owner.`,
      precondition:
        `EtcdCluster ${name} is Ready, the Service has uid ${client?.uid ?? 'unknown'}, and the ` +
        'revision of the old cluster is that of the snapshot still.',
      writers: 'GoOn',
      noWayBack: true,
    },
    ...(owned === 0 ? [] : [orphan]),
    {
      name: 'DeleteLegacy',
      does: `EtcdCluster ${legacy.name} of the old operator is deleted, and its pods with it.`,
      precondition: `It has uid ${legacy.uid}, and no claim and no client Service belongs to it.`,
    },
  ];
}
