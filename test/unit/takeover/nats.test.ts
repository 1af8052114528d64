// The plan of a takeover of a NatsCluster: what is carried over of what its servers were told, each
// object with its fate, the steps, and what speaks against it, each with a sentence of what to do.
import { beforeEach, describe, expect, test } from 'vitest';
import { configIn } from '../../../functions/takeover/nats/config.ts';
import { natsCarriedOver } from '../../../functions/takeover/nats/carry-over.ts';
import { OPERATOR } from '../../../functions/takeover/nats/made/operator.ts';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { LEGACY_ETCDS, LEGACY_NATS, TAKEOVERS } from '../../../shared/api/takeover.ts';
import { PODS, SECRETS, SERVICES } from '../../../shared/stateful/parts.ts';
import { configText } from '../../builders/legacy-nats.ts';
import {
  allSay,
  beginNats,
  putConfig,
  putNatsOperator,
  putNatsService,
  putServer,
  says,
  USERS,
} from './nats-world.ts';
import {
  conditionOf,
  fates,
  forbid,
  namespace,
  notes,
  plan,
  putTakeover,
  refusal,
  refusals,
  statusOf,
  sweep,
  world,
} from './world.ts';

beforeEach(() => {
  beginNats();
});

test('every object has its fate, and nothing but the status is written', async () => {
  putNatsOperator(1);
  putServer('foreign-9', {}, false);
  expect(await sweep()).toEqual(['apply takeovers/status over']);
  expect(await fates()).toEqual([
    'Make Secret new-users',
    'Make NatsCluster new',
    'Adopt Service old',
    'Change Deployment nats-operator',
    'Delete Pod old-1',
    'Delete Pod old-2',
    'Delete Pod old-3',
    'Delete Service old-mgmt',
    'Delete NatsCluster (nats.io) old',
    'Delete Secret old',
    'Keep CustomResourceDefinition natsclusters.nats.io',
    'Keep Pod foreign-9',
  ]);
  expect(JSON.stringify(statusOf())).not.toContain('known to nobody else');
});

test('servers of both are routed before anybody is led over', async () => {
  putNatsOperator(1);
  const { steps } = await plan();
  expect(steps.map(({ name, noWayBack = false }) => [name, noWayBack])).toEqual([
    ['StopOperator', false],
    ['MakeCluster', false],
    ['JoinRoutes', false],
    ['SwitchService', false],
    ['MoveClients', true],
    ['LeaveRoutes', false],
    ['DeleteLegacy', false],
  ]);
});

test('it waits for a person who confirms exactly it', async () => {
  const { id, waitsFor } = await plan();
  expect(id).toMatch(/^over-[0-9a-f]{12}$/);
  expect(waitsFor).toBe(`It is carried out once spec.confirm is ${id}.`);
  expect(conditionOf('Planned')).toBe('True Planned');
  world.kube.change(TAKEOVERS, { namespace, name: 'over' }, { spec: { confirm: 'over-1' } });
  await sweep();
  expect(conditionOf('Degraded')).toBe('True PlanChanged');
  expect(statusOf().work).toBeUndefined();
});

test('servers stand in the status with what they say', async () => {
  world.servers.set('10.0.1.3', 'It hangs.');
  says('old-2', { version: '2.9.1' });
  await plan();
  expect(statusOf().members).toEqual([
    { pod: 'old-1', version: '2.1.9' },
    { pod: 'old-2', version: '2.9.1' },
    { pod: 'old-3', silent: 'It hangs.' },
  ]);
  expect(await notes()).toEqual([
    'OperatorElsewhere',
    'MembersAway',
    'DirectClients',
    'ClientsReconnect',
  ]);
});

describe('what is carried over', () => {
  const into = { name: 'new' };
  const over = (config: object, legacy: object = {}, spec: Record<string, unknown> = {}) =>
    natsCarriedOver(
      OPERATOR.legacyOf({
        apiVersion: 'nats.io/v1alpha2',
        kind: 'NatsCluster',
        metadata: { name: 'old', uid: 'a', resourceVersion: '1' },
        spec: { size: 4, ...legacy },
      }),
      configIn(configText(config)),
      { ...into, spec },
    );
  const passwordSecret = (key: string) => ({ name: 'new-users', key });

  test('users with their rights, and those of nobody else', () => {
    const authorization = {
      users: [
        { username: 'one', password: 'a', permissions: { publish: 'a.b', subscribe: ['c', 'd'] } },
        { username: 'two', password: 'b', permissions: { publish: { allow: [], deny: ['e'] } } },
        { user: 'three', password: 'c' },
      ],
      default_permissions: { subscribe: ['PUBLIC.>'] },
    };
    expect(over({ authorization })).toEqual({
      replicas: 5,
      accounts: [
        {
          name: '$G',
          users: [
            {
              name: 'one',
              passwordSecret: passwordSecret('one'),
              permissions: { publish: { allow: ['a.b'] }, subscribe: { allow: ['c', 'd'] } },
            },
            {
              name: 'two',
              passwordSecret: passwordSecret('two'),
              permissions: { publish: { deny: ['e'] } },
            },
            {
              name: 'three',
              passwordSecret: passwordSecret('three'),
              permissions: { subscribe: { allow: ['PUBLIC.>'] } },
            },
          ],
        },
      ],
    });
  });

  test('one user alone, resources and TLS; what the Takeover says wins', () => {
    const authorization = { username: 'all', password: 'a' };
    const legacy = { pod: { resources: { requests: { cpu: 1, memory: '64Mi' } } } };
    expect(over({ authorization, tls: {} }, legacy, { replicas: 3 })).toEqual({
      replicas: 3,
      resources: { requests: { cpu: '1', memory: '64Mi' } },
      tls: { clients: {} },
      accounts: [{ name: '$G', users: [{ name: 'all', passwordSecret: passwordSecret('all') }] }],
    });
  });

  test('the lines that the operator spoils are read', () => {
    const text = configText({ include: 'advertise/client_advertise.conf', authorization: USERS });
    const spoiled = text.replace('"include":', 'include ');
    expect(configIn(spoiled)).toMatchObject({
      accounts: [{ name: '$G', users: [{ name: 'web' }] }],
      lacks: ['addresses of nodes (advertiseExternalIP)'],
    });
    expect(configIn('port: 4222')).toBeUndefined();
    // Anybody may have written it, as large as a Secret may be.
    expect(configIn('\n'.repeat(1_000_000))).toBeUndefined();
    expect(configIn(`"server_name":${' '.repeat(1_000_000)}`)).toBeUndefined();
    expect(configIn('['.repeat(1_000_000))).toBeUndefined();
  });
});

describe('what speaks against it', () => {
  test('it is not there, or going', async () => {
    world.kube.change(
      LEGACY_NATS,
      { namespace, name: 'old' },
      {
        metadata: { deletionTimestamp: '2026-11-26T06:59:00Z' },
      },
    );
    expect(await refusals()).toEqual(['LegacyEnding']);
    world.kube.remove(LEGACY_NATS, { namespace, name: 'old' });
    expect(await refusal()).toMatch(
      /^LegacyMissing: There is no NatsCluster shop\/old of nats\.io/,
    );
  });

  test.each<[string, object]>([
    ['gateways', { gateway: {} }],
    ['leaf nodes', { leaf: {} }],
    ['WebSockets', { websocket: {} }],
    ['accounts by JWT', { operator: 'op.jwt' }],
    ['certificates that clients have to show', { tls: { verify: true } }],
    ['users by their certificates', { tls: { verify_and_map: true } }],
    ['messages of more than 1 MiB', { max_payload: 2 ** 21 }],
    ['a token for all', { authorization: { token: 'secret' } }],
    ['users by nkey', { authorization: { users: [{ nkey: 'U' }] } }],
    ['users in a file of the pods', { authorization: { include: 'auth.json' } }],
  ])('it has %s, which a NatsCluster cannot be told', async (what, config) => {
    beginNats({ config, into: { tls: { clients: { secretName: 'given' } } } });
    const message = await refusal();
    expect(message).toMatch(/^CannotSay: The servers have what a NatsCluster cannot be told: /);
    expect(message).toContain(what);
  });

  test('what servers were told is missing, forbidden or unreadable', async () => {
    putConfig('port: 4222');
    expect(await refusals()).toEqual(['ConfigUnreadable']);
    world.kube.remove(SECRETS, { namespace, name: 'old' });
    expect(await refusals()).toEqual(['SecretMissing']);
    forbid('secrets', 'old');
    expect(await refusal()).toMatch(
      /^SecretForbidden: .* -- takeover -n shop --secret old --secret new-users [|] kubectl/,
    );
  });

  test('its servers ask each other for a login', async () => {
    beginNats({ config: { cluster: { authorization: { username: 'route' } } } });
    expect(await refusal()).toMatch(/^RoutesClosed: The old servers ask each other for a login/);
  });

  test('the new one would have no routes, or tell nobody of its clients', async () => {
    beginNats({ into: { replicas: 1, monitoringPort: 8333 } });
    expect(await refusals()).toEqual(['SingleServer', 'MonitoredElsewhere']);
  });

  test('the Secret of its users is there, or may not be seen', async () => {
    const metadata = { namespace, name: 'new-users' };
    world.kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata });
    expect(await refusal()).toMatch(/^NameTaken: Secret shop\/new-users is there already,/);
    world.kube.remove(SECRETS, metadata);
    forbid('secrets', 'new-users');
    expect(await refusal()).toMatch(
      /^SecretForbidden: .* -n shop --secret old --secret new-users [|] kubectl apply/,
    );
  });

  test('it asks nobody for a login', async () => {
    beginNats({ config: { authorization: undefined } });
    allSay({ asksLogin: false });
    expect(await refusals()).toEqual(['NoLogin']);
  });

  test('servers run on something else than their Secret', async () => {
    says('old-2', { asksTls: true });
    expect(await refusal()).toMatch(/^ConfigNotLoaded: What old-2 asks of clients/);
  });

  test('servers are too old, silent, gone, or more than there can be', async () => {
    says('old-2', { version: '1.4.1' });
    expect(await refusal()).toMatch(/^VersionTooOld: old-2 has 1\.4\.1,/);
    world.servers.clear();
    expect(await refusal()).toMatch(/^ServersSilent: .*old-1: It does not answer\./);
    for (let at = 0; at < 41; at += 1) putServer(`more-${at}`);
    expect(await refusals()).toEqual(['TooMany']);
    for (const name of world.kube.of('pods').keys()) {
      world.kube.remove(PODS, { namespace, name: name.split('/').at(-1) ?? '' });
    }
    expect(await refusals()).toEqual(['NoMembers']);
  });

  test('clients come by the addresses of nodes', async () => {
    putServer('old-2', { hostPort: 4222 });
    expect(await refusal()).toMatch(/^HostPorts: old-2 can be reached/);
  });

  test('a Service is missing, or of somebody else', async () => {
    world.kube.remove(SERVICES, { namespace, name: 'old' });
    world.kube.remove(SERVICES, { namespace, name: 'old-mgmt' });
    putNatsService('old-mgmt', false);
    expect(await refusals()).toEqual(['ServiceMissing', 'ServiceTaken']);
    expect(await refusal()).toContain('the selector app: nats, nats_cluster: old.');
  });

  test('its operator is named and not there', async () => {
    const legacy = {
      apiVersion: 'nats.io/v1alpha2',
      kind: 'NatsCluster',
      name: 'old',
      operator: { namespace: 'nats-io', name: 'nats-operator' },
    };
    putTakeover({ legacy, mode: 'Route', into: { name: 'new' } });
    expect(await refusals()).toEqual(['OperatorMissing']);
  });

  test('the name is taken, or the API server would store no such NatsCluster', async () => {
    world.kube.put(NATS_CLUSTERS, {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'NatsCluster',
      metadata: { namespace, name: 'new' },
    });
    expect(await refusal()).toMatch(/^NameTaken: .* a new NatsCluster, .*: NatsCluster new\./);
    beginNats();
    world.kube.refuses = (what) => what === 'natsclusters to be created';
    expect(await refusals()).toEqual(['NatsClusterRefused']);
  });

  test('clients would be kept out by a policy, or by TLS', async () => {
    beginNats({ into: { networkPolicy: 'Closed', tls: { clients: {} } } });
    expect(await refusals()).toEqual(['PolicyClosed', 'TlsDiffers']);
    beginNats({ config: { tls: {} } });
    allSay({ asksTls: true });
    expect(await refusal()).toMatch(
      /^CertificateMissing: .* for old\.shop\.svc, new\.shop\.svc, \*\.new-headless\.shop\.svc,/,
    );
  });

  test('servers of both would not believe each other', async () => {
    const tls = { cert_file: 'route.pem' };
    beginNats({ config: { cluster: { tls } } });
    expect(await refusal()).toMatch(
      /^CertificateMissing: The old servers .* \*\.new-headless\.shop\.svc,/,
    );
    beginNats({ config: { cluster: { tls } }, into: { tls: { routes: { secretName: 'given' } } } });
    expect(await refusals()).toEqual([]);
    beginNats({ into: { tls: { routes: {} } } });
    expect(await refusal()).toMatch(
      /^TlsDiffers: The old servers speak with each other without TLS,/,
    );
  });

  test('an EtcdCluster of the same name is another matter', async () => {
    const of = { apiVersion: 'etcd.database.coreos.com/v1beta2', kind: 'EtcdCluster', name: 'old' };
    world.kube.put(TAKEOVERS, {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'Takeover',
      metadata: { namespace, name: 'of-etcd' },
      spec: { legacy: of, mode: 'Restore', into: { name: 'newer' } },
    });
    const metadata = { namespace, name: 'old' };
    world.kube.put(LEGACY_ETCDS, { apiVersion: of.apiVersion, kind: of.kind, metadata });
    await sweep();
    const all = [...world.kube.of('takeovers').values()];
    expect(JSON.stringify(all)).toContain('NoMembers');
    // One of the two is the younger one.
    expect(JSON.stringify(all)).not.toContain('OtherTakeover');
  });
});
