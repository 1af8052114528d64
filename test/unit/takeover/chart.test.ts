// The plan of a takeover of a NATS of Helm's chart: what is carried over of what its servers were
// told, each object with its fate, and what speaks against it, each with a sentence of what to do.
import { beforeEach, describe, expect, test } from 'vitest';
import { chartConfigIn } from '../../../functions/takeover/nats/made/chart-config.ts';
import { wordIn } from '../../../functions/takeover/nats/made/chart-text.ts';
import { PODS, SECRETS, SERVICES, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { chartConfig, chartLabels } from '../../builders/legacy-chart.ts';
import { beginChart, LOGIN, place, putChartConfig } from './chart-world.ts';
import {
  conditionOf,
  fates,
  forbid,
  namespace,
  notes,
  plan,
  refusal,
  refusals,
  statusOf,
  sweep,
  world,
} from './world.ts';

beforeEach(() => {
  beginChart();
});

test('every object has its fate, and nothing but the status is written', async () => {
  expect(await sweep()).toEqual(['apply takeovers/status over']);
  expect(await refusals()).toEqual([]);
  expect(await fates()).toEqual([
    'Make Secret new-users',
    'Make NatsCluster new',
    'Adopt Service old',
    'Delete Pod old-0',
    'Delete Pod old-1',
    'Delete Pod old-2',
    'Delete StatefulSet old',
    'Keep Service old-headless',
    'Keep ConfigMap old-config',
    'Keep Secret sh.helm.release.v1.old.*',
  ]);
  expect(conditionOf('Planned')).toBe('True Planned');
  expect(JSON.stringify(statusOf())).not.toContain(LOGIN.password);
});

test('it says what Helm would do, and who applies the chart again', async () => {
  expect(await notes()).toEqual([
    'HelmKnows',
    'PasswordsAsOfNow',
    'DirectClients',
    'ClientsReconnect',
  ]);
  const labels = { 'helm.toolkit.fluxcd.io/name': 'nats' };
  world.kube.change(STATEFUL_SETS, place, { metadata: { labels } });
  expect(await notes()).toEqual([
    'HelmKnows',
    'AppliedAgain',
    'PasswordsAsOfNow',
    'DirectClients',
    'ClientsReconnect',
  ]);
});

test('a chart that Helm has not made itself is applied by somebody without a mark', async () => {
  const annotations = { 'meta.helm.sh/release-name': null };
  world.kube.change(STATEFUL_SETS, place, { metadata: { annotations } });
  expect(await notes()).toEqual([
    'AppliedAgain',
    'PasswordsAsOfNow',
    'DirectClients',
    'ClientsReconnect',
  ]);
  // Nobody is told to have Helm forget what it does not know.
  const { notes: told, objects } = await plan();
  expect(JSON.stringify([told, objects])).not.toMatch(/owner=helm|sh\.helm\.release/);
});

describe('what is carried over', () => {
  const accountsOf = (config: object) => {
    const found = chartConfigIn(chartConfig('old', config));
    return typeof found === 'string' ? found : found.accounts;
  };

  test('users with their rights, of all accounts but that of the system', () => {
    const permissions = { publish: 'a.b', subscribe: { deny: ['c'] }, allow_responses: true };
    const accounts = {
      SHOP: { users: [{ ...LOGIN, permissions }] },
      SYSTEM: {},
      EMPTY: { jetstream: true },
    };
    expect(accountsOf({ accounts, system_account: 'SYSTEM' })).toEqual([
      {
        name: 'SHOP',
        users: [
          {
            name: 'web',
            publish: { allow: ['a.b'] },
            subscribe: { deny: ['c'] },
            allowResponses: true,
          },
        ],
      },
    ]);
  });

  test('words without quotes are read', () => {
    const config = { max_payload: '<< 8MB >>', authorization: { users: [LOGIN] } };
    expect(chartConfigIn(chartConfig('old', config))).toMatchObject({
      lacks: ['messages of more than 1 MiB (max_payload)'],
      clusterName: 'old',
    });
    expect(chartConfigIn('port: 4222')).toBe('not as the chart writes it: JSON');
    const long = `"${String.raw`\"`.repeat(500_000)}`;
    expect(chartConfigIn(long)).toBe('not as the chart writes it: JSON');
    expect(chartConfigIn('{"constructor": 1}')).toMatchObject({
      lacks: expect.arrayContaining(['key constructor']),
    });
    expect(chartConfigIn('{\n  include users.conf;\n}')).toContain('$include');
  });

  test.each([
    ['plain$2', 'plain$2'],
    ['word\n', 'word'],
    ['"two words"', 'two words'],
    ["'one'", 'one'],
    ['two words', undefined],
    ['a,b', undefined],
    [String.raw`a\b`, undefined],
    ['"a', undefined],
    ['', undefined],
  ])('NATS reads a variable %j as %j', (value, word) => {
    expect(wordIn(value)).toBe(word);
  });

  test('the NatsCluster tells the name of the old NATS', async () => {
    await plan();
    const created = world.kube.writes.filter((one) => one.startsWith('create'));
    expect(created).toEqual([]);
    beginChart({ into: { clusterName: 'other' } });
    expect(await refusal()).toContain('NamedOtherwise: The chart gave other another name');
  });
});

test.each<[object, string]>([
  [{ jetstream: { store_dir: '/data' } }, 'JetStreamOn: The servers of old keep streams'],
  [{ cluster: undefined }, 'RoutesClosed: The old server has no routes'],
  [{ authorization: undefined }, 'and have the chart ask for it then (config.merge.authorization'],
  [
    { max_connections: 5 },
    'CannotSay: The servers have what a NatsCluster cannot be told: key max_con',
  ],
  [{ websocket: { port: 1 } }, 'WebSockets'],
  [{ leafnodes: {} }, 'leaf nodes'],
  [{ https_port: 8222, http_port: undefined }, 'monitoring over HTTPS (https_port)'],
  [{ authorization: { users: [{ nkey: 'U' }] } }, 'users by nkey'],
  [
    { authorization: { users: [{ ...LOGIN, allowed_connection_types: [] }] } },
    'key authorization.us',
  ],
  [{ accounts: { A: { exports: [] } } }, 'key accounts.A.exports'],
  [{ accounts: { S: { users: [LOGIN] } }, system_account: 'S' }, 'users of the system account (S)'],
  [{ accounts: {}, system_account: 'SYS' }, 'a system account of the name SYS'],
  [{ cluster: { name: 'other', port: 6222, routes: [] } }, 'NamedOtherwise: The chart gave other'],
  [{ cluster: { name: 'old', port: 6223, routes: [] } }, 'another port of routes'],
  [{ cluster: { name: 'old', port: 6222, pool_size: 9 } }, 'key cluster.pool_size'],
  [{ cluster: { name: 'old', port: 6222, authorization: {} } }, 'config.cluster.routeURLs.user'],
  [{ tls: { cert_file: 'a', handshake_first: true } }, 'key tls.handshake_first'],
  [{ tls: { cert_file: 'a' } }, 'CertificateMissing'],
  [
    { authorization: { users: [{ user: 'web', password: '<< $WEB >>' }] } },
    'a password in $WEB, which no container has by its name',
  ],
])('%j speaks against it', async (config, why) => {
  putChartConfig({ authorization: { users: [LOGIN] }, ...config });
  expect(await refusal()).toContain(why);
});

test('a password may come from a Secret, which has to be granted then', async () => {
  const from = { secretKeyRef: { name: 'web-login', key: 'password' } };
  const users = [{ user: 'web', password: '<< $WEB >>' }];
  beginChart({
    config: { authorization: { users } },
    set: { env: [{ name: 'WEB', valueFrom: from }] },
  });
  expect(await refusal()).toContain('SecretMissing: There is no Secret shop/web-login with');
  const data = { password: Buffer.from('a').toString('base64') };
  const metadata = { namespace, name: 'web-login' };
  world.kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, data });
  expect(await refusals()).toEqual([]);
  forbid('secrets', 'web-login');
  expect(await refusal()).toContain(
    'SecretForbidden: The function may not read Secret shop/web-login',
  );
  forbid('secrets', 'new-users');
  expect(await refusal()).toContain('--chart old --secret web-login --secret new-users |');
});

const labelled = (labels: object) => ({ metadata: { labels } });

const SPEAKING: readonly (readonly [string, () => unknown, string])[] = [
  [
    'another chart of the name',
    () =>
      world.kube.change(STATEFUL_SETS, place, labelled({ 'helm.sh/chart': 'nats-streaming-1' })),
    'ChartUnknown',
  ],
  [
    'the older line',
    () => world.kube.change(STATEFUL_SETS, place, labelled(chartLabels('old', '0.19.17'))),
    'ChartTooOld',
  ],
  [
    'another selector',
    () => {
      const matchLabels = { 'app.kubernetes.io/component': null };
      world.kube.change(STATEFUL_SETS, place, { spec: { selector: { matchLabels } } });
    },
    'NamedOtherwise',
  ],
  [
    'another Service of servers',
    () => world.kube.change(STATEFUL_SETS, place, { spec: { serviceName: 'old' } }),
    'NamedOtherwise',
  ],
  [
    'claims',
    () => world.kube.change(STATEFUL_SETS, place, { spec: { volumeClaimTemplates: [{}] } }),
    'JetStreamOn',
  ],
  ['no Service', () => world.kube.remove(SERVICES, place), 'ServiceMissing'],
  [
    'a Service that Helm does not know',
    () => world.kube.change(SERVICES, place, labelled({ 'app.kubernetes.io/managed-by': 'me' })),
    'ServiceTaken',
  ],
  [
    'a Service that leads elsewhere',
    () => world.kube.change(SERVICES, place, { spec: { selector: { a: 'b' } } }),
    'ServiceRedirected',
  ],
  [
    'a Service without an address',
    () => world.kube.change(SERVICES, place, { spec: { clusterIP: 'None' } }),
    'ServiceHeadless',
  ],
  [
    'a Service with another port',
    () => {
      const ports = [{ name: 'leafnodes', port: 7422, targetPort: 'leafnodes' }];
      world.kube.change(SERVICES, place, { spec: { ports } });
    },
    'ServicePorts',
  ],
  [
    'no pod',
    () => [0, 1, 2].map((at) => world.kube.remove(PODS, { namespace, name: `old-${at}` })),
    'NoMembers',
  ],
];

test.each(SPEAKING)('%s speaks against it', async (_, change, reason) => {
  change();
  expect(await refusals()).toContain(reason);
});

test('the ConfigMap has to be granted', async () => {
  forbid('configmaps', 'old-config');
  expect(await refusal()).toContain('rights -- takeover -n shop --chart old --secret new-users |');
});
