// Things to know of a takeover of an EtcdCluster of improbable's operator that do not speak against
// it. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { isRecord } from '../../../shared/kube/json.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import { fieldOf, type LegacyEtcd } from '../legacy.ts';
import { heldPeers } from '../release-peers.ts';
import type { State } from '../state.ts';

export const notesOnImprobable = (state: State, legacy: LegacyEtcd): readonly Reason[] => [
  headless(legacy),
  ...operatorNotes(state),
  ...held(state, legacy),
  ...endingClaims(state),
  ...differing(legacy),
];

const headless = ({ clientService }: LegacyEtcd): Reason => ({
  reason: 'HeadlessService',
  message:
    `Service ${clientService} has no address of its own: clients look up those of pods, and some ` +
    'keep them. They find the new ones when they look up anew, which DNS may delay by half a ' +
    'minute; who is connected to an old member gets errors for writes until that ends. Restart ' +
    'clients that never look up anew.',
});

function operatorNotes({ operators }: State): readonly Reason[] {
  if (operators.every(({ replicas }) => replicas === 0)) return [];
  const message =
    'With its operator webhooks and backups stop: until it is started again nobody makes or ' +
    'changes an EtcdCluster or EtcdPeer of etcd.improbable.io, in any namespace, and no ' +
    'EtcdBackupSchedule of it is followed. It is not started again by the takeover.';
  return [{ reason: 'WebhooksStop', message }];
}

function held(state: State, { peers }: LegacyEtcd): readonly Reason[] {
  const names = heldPeers(state).map(({ name }) => name);
  if (names.length === 0) return [];
  const message =
    `EtcdPeers ${listed(names)} have finalizer ${peers?.finalizer}, of members that were ` +
    'removed: its operator would delete their claims, and without an operator they never end. It ' +
    'is taken off once no operator runs. Webhooks that are left without it forbid that: delete ' +
    'those of etcd.improbable.io once it is stopped.';
  return [{ reason: 'PeersHeld', message }];
}

function endingClaims({ claims }: State): readonly Reason[] {
  const ending = claims.filter(({ isEnding }) => isEnding).map(({ name }) => name);
  if (ending.length === 0) return [];
  const message =
    `Claims ${listed(ending)} are being deleted, by its operator or by somebody else, and go ` +
    'with their pods. Nothing brings them back.';
  return [{ reason: 'ClaimsEnd', message }];
}

function differing({ spec }: LegacyEtcd): readonly Reason[] {
  const template = fieldOf(spec, 'podTemplate');
  const dropped = [
    ...(isSaid(fieldOf(template, 'metadata')['annotations']) ? ['annotations'] : []),
    ...(isSaid(template['affinity']) ? ['affinity'] : []),
  ];
  if (dropped.length === 0) return [];
  const message = `The new members will not have ${listed(dropped)} of spec.podTemplate.`;
  return [{ reason: 'NotCarriedOver', message }];
}

const isSaid = (value: unknown): boolean => isRecord(value) && Object.keys(value).length > 0;
