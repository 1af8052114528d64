// The steps of a takeover by snapshot and restore, in their order, each with what has to hold for
// it. Pure.
import type { PlannedStep } from '../../shared/api/takeover.ts';
import { sourceOf } from './answers.ts';
import { claimsStay } from './claims-go.ts';
import type { LegacyEtcd } from './legacy.ts';
import { releasesPeers } from './release-peers.ts';
import type { Seen, State } from './state.ts';

export function plannedSteps(state: State): readonly PlannedStep[] {
  const { legacy } = state;
  if (legacy === undefined) return [];
  return [...stopOperators(state), ...copy(state, legacy), ...lead(state, legacy)];
}

export const stopOperators = ({ operators }: Seen): readonly PlannedStep[] =>
  operators
    .filter(({ replicas }) => replicas > 0)
    .map(({ namespace, name, uid, replicas }) => ({
      name: 'StopOperator',
      does: `Deployment ${namespace}/${name} gets 0 replicas, so that it does not fight.`,
      precondition: `It has uid ${uid} and ${replicas} replicas.`,
    }));

function copy(state: State, legacy: LegacyEtcd): readonly PlannedStep[] {
  const { takeover } = state;
  const { name } = takeover.spec.into;
  const source = sourceOf(state);
  const from = source === undefined ? 'a member that answers' : `a member, as ${source.pod}`;
  const id = source && BigInt(source.answer.status.header.clusterId).toString(16);
  const quorum = id === undefined ? 'A quorum stands.' : `A quorum of cluster ${id} stands.`;
  return [
    {
      name: 'FreezeWriters',
      does:
        `The members of ${legacy.name} get an alarm with which etcd takes no write, whoever is ` +
        'connected; they are read as before. It is awaited that the revision stands still.',
      precondition: quorum,
      writers: 'Stop',
    },
    {
      name: 'Snapshot',
      does: `An EtcdBackup takes a snapshot of ${from}, and checks it.`,
      precondition: 'The revision stands still, and every member that answers has the alarm.',
    },
    {
      name: 'MakeCluster',
      does: `An EtcdRestore makes EtcdCluster ${name} of it, at a higher revision; members join.`,
      precondition: 'The snapshot is of the revision at which writers stopped.',
    },
    {
      name: 'Compare',
      does: 'Every key is compared with the old cluster, by its revisions, version and lease.',
      precondition: `EtcdCluster ${name} is Ready.`,
    },
  ];
}

export function orphanClaims({ claims }: State): readonly PlannedStep[] {
  const owned = claims.filter(({ isOwned }) => isOwned).length;
  if (owned === 0) return [];
  return [
    {
      name: 'OrphanClaims',
      does: `${owned} claims lose their owner, so that they stay.`,
      precondition: 'Each has the uid and the owner that it was seen with.',
    },
  ];
}

type Does = Pick<PlannedStep, 'name' | 'does'>;

export const switchesService = ({ takeover }: State, legacy: LegacyEtcd): Does => ({
  name: 'SwitchService',
  does:
    `Service ${legacy.clientService} leads to EtcdCluster ${takeover.spec.into.name}, and no ` +
    'longer has an owner.',
});

export const deletesLegacy = ({ name }: LegacyEtcd): Does => ({
  name: 'DeleteLegacy',
  does: `EtcdCluster ${name} of the old operator is deleted, and its pods with it.`,
});

function lead(state: State, legacy: LegacyEtcd): readonly PlannedStep[] {
  const { client, takeover } = state;
  const { name } = takeover.spec.into;
  return [
    {
      ...switchesService(state, legacy),
      precondition:
        `No key differs, EtcdCluster ${name} is Ready, the Service has uid ` +
        `${client?.uid ?? 'unknown'} and its selector, and the revision of the old cluster is ` +
        'that of the snapshot still.',
      writers: 'GoOn',
      noWayBack: true,
    },
    ...orphanClaims(state),
    ...releasesPeers(state),
    {
      ...deletesLegacy(legacy),
      precondition:
        `It has uid ${legacy.uid}, no claim and no client Service belongs to it, and its members ` +
        `are at the revision of the snapshot still.${claimsStay(state)}`,
    },
  ];
}
