// The plan of a takeover of a NatsCluster: servers of both are routed with each other while clients
// are led over, so that whoever publishes on one side is heard on the other. Pure.
import { headlessName } from '../../../shared/api/etcd-names.ts';
import type { PlannedObject, PlannedStep, TakeoverPlan } from '../../../shared/api/takeover.ts';
import { idFor, lasting, proposed } from '../plan.ts';
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
  const { legacy, servers } = state;
  const rest = {
    objects: legacy === undefined ? [] : objectsOf(state, legacy),
    steps: legacy === undefined ? [] : stepsOf(state, legacy),
    refusals: refusalsOfNats(state),
    notes: notesOfNats(state),
  };
  return proposed(state, rest, servers === undefined ? undefined : idOf(state));
}

/** Ids of servers and their clients are others after each restart, and no plan depends on them. */
function idOf({ takeover, legacy, target, config, servers, ...state }: NatsState): string {
  const { client, routes, pods, operators } = state;
  return idFor(takeover, {
    legacy: legacy && lasting(legacy),
    target: target.spec,
    config: config.is === 'found' ? config.resourceVersion : config.is,
    servers: [...(servers ?? [])].map(([pod, asked]) => [
      pod,
      'silent' in asked ? 'silent' : asked.version,
    ]),
    world: {
      client: client && lasting(client),
      routes: routes && lasting(routes),
      pods: pods.map(({ name, uid }) => [name, uid]),
      operators: operators.map((one) => lasting(one)),
    },
  });
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
    `The passwords of ${users} users by their names, as ${from} has them; it goes with the ` +
      'NatsCluster.',
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
      does:
        `NatsCluster ${name} is made beside it, with the same users, rights and passwords; it is ` +
        'awaited that it is Ready.',
      precondition: `Its names are free, and that of Secret ${usersSecretOf({ name })}.`,
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
        'Each has the uid that it was seen with, and all clients of the one before are back, or ' +
        'a minute is over.',
      noWayBack: true,
    },
    {
      name: 'LeaveRoutes',
      does: `Routes to ${names} are taken out of NatsCluster ${name}.`,
      precondition: 'No old pod is left.',
    },
    {
      name: 'DeleteLegacy',
      does: `NatsCluster ${legacy.name} of the old operator is deleted, and what is left of it.`,
      precondition: `It has uid ${legacy.uid} and no pod, and the client Service is not its own.`,
    },
  ];
}
