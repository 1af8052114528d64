// Every object that a takeover would make, adopt, change, delete or keep, each with its reason.
// Pure.
import { claimName, headlessName, peerNameOf } from '../../shared/api/etcd-names.ts';
import type { PlannedObject } from '../../shared/api/takeover.ts';
import { listed } from '../../shared/stateful/decision.ts';
import { heldBy } from './claims-go.ts';
import { isOneService, type LegacyEtcd } from './legacy.ts';
import { operatorOf } from './legacy/operators.ts';
import { givenIn, secretsOf } from './read-secrets.ts';
import { madeNameOf } from './records.ts';
import type { FoundClaim, FoundPod, Seen, State } from './state.ts';

type Made = (state: State, legacy: LegacyEtcd) => readonly PlannedObject[];

/** `made` tells what is made: it differs with the way in which data comes over. */
export function plannedObjects(state: State, made: Made): readonly PlannedObject[] {
  const { legacy } = state;
  if (legacy === undefined) return [];
  const { group, resource } = operatorOf(state.takeover.spec.legacy).ref;
  return [
    ...made(state, legacy),
    ...services(state, legacy),
    ...operatorsIn(state),
    ...deleted(state, legacy),
    ...state.claims.map((claim) => kept(claim, legacy)),
    ...secrets(state, legacy),
    ...state.strangers.map((name) => stranger(name)),
    keptDefinition(`${resource}.${group}`),
    ...(legacy.peers === undefined
      ? []
      : [keptDefinition(`${legacy.peers.ref.resource}.${group}`)]),
  ];
}

export function madeToRestore(
  { takeover }: State,
  { name: from }: LegacyEtcd,
): readonly PlannedObject[] {
  const { name } = takeover.spec.into;
  const claim = claimName(peerNameOf(name, 0));
  const own = madeNameOf(takeover.name, { attempt: 1 });
  return [
    make('PersistentVolumeClaim', own, 'The snapshot is put there; it goes with the Takeover.'),
    make('EtcdBackup', own, `Takes a snapshot of a member of ${from}, and checks it.`),
    make('EtcdRestore', own, 'Restores that into the first member of the new EtcdCluster.'),
    make(
      'PersistentVolumeClaim',
      claim,
      'The first member starts with the snapshot that is restored into it.',
    ),
    make(
      'EtcdCluster',
      name,
      `Goes on with the data; it makes its own Services, ${name} and ${headlessName(name)}.`,
    ),
  ];
}

export const make = (kind: string, name: string, why: string): PlannedObject => ({
  action: 'Make',
  kind,
  name,
  why,
});

function services({ takeover, client, headless }: State, legacy: LegacyEtcd) {
  const adopted = adoptedService(legacy.clientService, `EtcdCluster ${takeover.spec.into.name}`);
  const gone = goneService(legacy.headlessService, 'members');
  if (isOneService(legacy)) return client === undefined ? [] : [adopted];
  return [...(client === undefined ? [] : [adopted]), ...(headless === undefined ? [] : [gone])];
}

export const adoptedService = (name: string, cluster: string): PlannedObject => ({
  action: 'Adopt',
  kind: 'Service',
  name,
  why:
    `Clients know it: it leads to the pods of ${cluster}, ` +
    'keeps its address, and no longer goes with the legacy object.',
});

export const goneService = (name: string, old: 'members' | 'servers'): PlannedObject => ({
  action: 'Delete',
  kind: 'Service',
  name,
  why: `Only the old ${old} have names in it; it goes with the legacy object.`,
});

export const operatorsIn = ({ takeover, operators: found }: Seen): readonly PlannedObject[] =>
  found.map(({ namespace, name, replicas }) => ({
    action: replicas > 0 ? 'Change' : 'Keep',
    kind: 'Deployment',
    ...(namespace === takeover.namespace ? {} : { namespace }),
    name,
    why:
      replicas > 0
        ? `The operator would fight: it gets 0 replicas, and on rollback the ` +
          `${replicas} that it has.`
        : 'The operator does not run.',
  }));

function deleted(state: State, legacy: LegacyEtcd): readonly PlannedObject[] {
  const { ref, going } = operatorOf(state.takeover.spec.legacy);
  const object: PlannedObject = {
    action: 'Delete',
    kind: `EtcdCluster (${ref.group})`,
    name: legacy.name,
    why: 'Deleted last, when all else has been seen to be right; its pods go with it.',
  };
  return [object, ...going(legacy, state), ...state.pods.map(member)];
}

const member = ({ name, claim }: FoundPod): PlannedObject => ({
  action: 'Delete',
  kind: 'Pod',
  name,
  why:
    claim === undefined
      ? 'Goes with the legacy object, and its data with it, which is in an emptyDir.'
      : `Goes with the legacy object; its data stays in claim ${claim}.`,
});

const kept = (claim: FoundClaim, legacy: LegacyEtcd): PlannedObject => ({
  action: claim.isEnding ? 'Delete' : 'Keep',
  kind: 'PersistentVolumeClaim',
  name: claim.name,
  why: whyKept(claim, legacy),
});

function whyKept(claim: FoundClaim, legacy: LegacyEtcd): string {
  const { isOwned, isEnding } = claim;
  if (isEnding) return 'Somebody has deleted it, and it goes with its pod.';
  const held = heldBy(claim, legacy);
  if (held.length > 0) return `Belongs to ${listed(held)}, with which it would go.`;
  return isOwned
    ? 'Loses its owner before that is deleted, and stays until a person deletes it.'
    : 'Belongs to nobody, and stays until a person deletes it.';
}

function secrets({ target }: State, { tls }: LegacyEtcd): readonly PlannedObject[] {
  const names = new Set([...secretsOf(tls), tls && givenIn(target)]);
  return [...names].flatMap((name) =>
    name
      ? [{ action: 'Keep', kind: 'Secret', name, why: 'It is yours; it is only read.' } as const]
      : [],
  );
}

export const stranger = (name: string): PlannedObject => ({
  action: 'Keep',
  kind: 'Pod',
  name,
  why: 'It has the label and is not of the legacy object.',
});

export const keptDefinition = (name: string): PlannedObject => ({
  action: 'Keep',
  kind: 'CustomResourceDefinition',
  name,
  why: 'Other namespaces may have objects of it; `npm run takeover` tells when none is left.',
});
