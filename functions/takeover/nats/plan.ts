// The plan of a takeover of a NatsCluster: servers of both are routed with each other while clients
// are led over, so that whoever publishes on one side is heard on the other. Pure.
import { headlessName } from '../../../shared/api/etcd-names.ts';
import type { PlannedObject, PlannedStep, TakeoverPlan } from '../../../shared/api/takeover.ts';
import { idFor, lasting, proposed } from '../plan.ts';
import { adoptedService, make, operatorsIn, stranger } from '../planned-objects.ts';
import { stopOperators } from '../planned-steps.ts';
import { usersSecretOf } from './carry-over.ts';
import { usersOf } from './config.ts';
import type { LegacyNats } from './legacy.ts';
import { makerOf } from './made/makers.ts';
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
    ...adopted(state, legacy),
    ...operatorsIn(state),
    ...state.pods.map(({ name }) => left(name)),
    ...makerOf(state.takeover.spec.legacy).planned(state, legacy),
    ...state.strangers.map((name) => stranger(name)),
  ];
}

function made(state: NatsState, { name: from }: LegacyNats): readonly PlannedObject[] {
  const { into } = state.takeover.spec;
  const config = configOf(state);
  const users = config === undefined ? 0 : usersOf(config).length;
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

const adopted = (
  { takeover, client }: NatsState,
  { clientService }: LegacyNats,
): readonly PlannedObject[] =>
  client === undefined
    ? []
    : [adoptedService(clientService, `NatsCluster ${takeover.spec.into.name}`)];

const left = (name: string): PlannedObject => ({
  action: 'Delete',
  kind: 'Pod',
  name,
  why: 'Its clients connect anew, to the new servers; it has no data.',
});

function stepsOf(state: NatsState, legacy: LegacyNats): readonly PlannedStep[] {
  const { name } = state.takeover.spec.into;
  const { clientService: service } = legacy;
  const { words } = makerOf(state.takeover.spec.legacy);
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
      does: `${words.leaving(names)}; their clients connect anew by themselves.`,
      precondition:
        'Each was there when the plan was confirmed, and all clients of the one before are back, ' +
        'or a minute is over.',
      noWayBack: true,
    },
    {
      name: 'LeaveRoutes',
      does: `Routes to ${names} are taken out of NatsCluster ${name}.`,
      precondition: 'No old pod is left.',
    },
    {
      name: 'DeleteLegacy',
      does: `${words.object(legacy.name)} is deleted, and what goes with it.`,
      precondition: `It has uid ${legacy.uid} and no pod, and the client Service is not its own.`,
    },
  ];
}
