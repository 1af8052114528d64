// The plan of a takeover of a NatsCluster: servers of both are routed with each other while clients
// are led over, so that whoever publishes on one side is heard on the other. Pure.
import { headlessName } from '../../../shared/api/etcd-names.ts';
import type { PlannedObject, PlannedStep, TakeoverPlan } from '../../../shared/api/takeover.ts';
import { joined } from '../../../shared/stateful/decision.ts';
import {
  adoptedService,
  goneService,
  keptDefinition,
  make,
  operatorsIn,
  stranger,
} from '../planned-objects.ts';
import { stopOperators } from '../planned-steps.ts';
import { usersSecretOf } from './carry-over.ts';
import { clientServiceOf, configSecretOf, type LegacyNats, routeServiceOf } from './legacy.ts';
import { notesOfNats } from './notes.ts';
import { refusalsOfNats } from './refuse.ts';
import { configOf, type NatsState } from './state.ts';

export function planOfNats(state: NatsState): TakeoverPlan {
  const refusals = refusalsOfNats(state);
  const { legacy } = state;
  return {
    next: 'Plan it anew',
    waitsFor: joined(refusals),
    objects: legacy === undefined ? [] : objectsOf(state, legacy),
    steps: legacy === undefined ? [] : stepsOf(state, legacy),
    refusals,
    notes: notesOfNats(state),
  };
}

function objectsOf(state: NatsState, legacy: LegacyNats): readonly PlannedObject[] {
  return [
    ...made(state, legacy),
    ...services(state, legacy),
    ...operatorsIn(state),
    ...deleted(state, legacy),
    ...state.strangers.map((name) => stranger(name)),
    keptDefinition('natsclusters.nats.io'),
  ];
}

function made(state: NatsState, { name: from }: LegacyNats): readonly PlannedObject[] {
  const { into } = state.takeover.spec;
  const users = configOf(state)?.users.length ?? 0;
  const passwords = make(
    'Secret',
    usersSecretOf(into),
    `The passwords of ${users} users by their names, as ${from} has them.`,
  );
  return [
    ...(users === 0 ? [] : [passwords]),
    make(
      'NatsCluster',
      into.name,
      `Goes on with the users, rights and clients of ${from}; it makes its own Services, ` +
        `${into.name} and ${headlessName(into.name)}.`,
    ),
  ];
}

function services({ takeover, client, routes }: NatsState, legacy: LegacyNats) {
  const adopted = adoptedService(clientServiceOf(legacy), `NatsCluster ${takeover.spec.into.name}`);
  const gone = goneService(routeServiceOf(legacy), 'servers');
  return [...(client === undefined ? [] : [adopted]), ...(routes === undefined ? [] : [gone])];
}

function deleted({ pods, config }: NatsState, legacy: LegacyNats): readonly PlannedObject[] {
  const { name } = legacy;
  const secret: PlannedObject = {
    action: 'Delete',
    kind: 'Secret',
    name: configSecretOf(legacy),
    why: 'The configuration of the old servers alone; it goes with the legacy object.',
  };
  return [
    ...pods.map(({ name: pod }): PlannedObject => ({
      action: 'Delete',
      kind: 'Pod',
      name: pod,
      why: 'Its clients connect anew, to the new servers; it has no data.',
    })),
    {
      action: 'Delete',
      kind: 'NatsCluster (nats.io)',
      name,
      why: 'Deleted last, when no client is left on its servers.',
    },
    ...(config.is === 'missing' ? [] : [secret]),
  ];
}

function stepsOf(state: NatsState, legacy: LegacyNats): readonly PlannedStep[] {
  const { name } = state.takeover.spec.into;
  const service = clientServiceOf(legacy);
  const names = state.pods.map((pod) => pod.name).join(', ');
  return [
    ...stopOperators(state),
    {
      name: 'MakeCluster',
      does: `NatsCluster ${name} is made beside it, with the same users and rights.`,
      precondition: 'Its names are free.',
    },
    {
      name: 'JoinRoutes',
      does:
        `Its servers are routed with ${names} (spec.extraRoutes), so that messages pass between ` +
        'both.',
      precondition: `NatsCluster ${name} is Ready.`,
    },
    {
      name: 'SwitchService',
      does: `Service ${service} leads to NatsCluster ${name}, and no longer has an owner.`,
      precondition:
        'Each new server has a route to each old one, and the Service has uid ' +
        `${state.client?.uid ?? 'unknown'} and its selector.`,
    },
    {
      name: 'MoveClients',
      does: `${names} are deleted one after another; their clients connect anew by themselves.`,
      precondition:
        'Each has the uid that it was seen with, and all clients of the one before are back.',
      noWayBack: true,
    },
    {
      name: 'DeleteLegacy',
      does: `NatsCluster ${legacy.name} of the old operator is deleted, and what is left of it.`,
      precondition: `It has uid ${legacy.uid} and no pod, and the client Service is not its own.`,
    },
  ];
}
