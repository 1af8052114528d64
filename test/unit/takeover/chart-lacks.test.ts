// A plan of a chart is refused for what its servers were told and a NatsCluster cannot be, with its
// path: what is read past would lose a user, or let one do more than before.
import { beforeEach, expect, test } from 'vitest';
import { chartConfigIn } from '../../../functions/takeover/nats/made/chart-config.ts';
import { chartConfig, chartLabels } from '../../builders/legacy-chart.ts';
import { beginChart, LOGIN, putChartConfig } from './chart-world.ts';
import { plan, refusal, refusals, world } from './world.ts';

beforeEach(() => {
  beginChart();
});

async function lacksOf(config: object): Promise<string> {
  putChartConfig(config);
  const { refusals: against } = await plan();
  return against.find(({ reason }) => reason === 'CannotSay')?.message ?? '';
}

const login = (user: object): object => ({ users: [LOGIN, { ...LOGIN, user: 'two', ...user }] });
const may = (permissions: object): object => ({ authorization: login({ permissions }) });

test.each<[object, string]>([
  [
    { authorization: login({ user: '<< $U >>' }) },
    'a word without quotes in authorization.users.user',
  ],
  [{ authorization: { users: '<< $X >>' } }, 'a word without quotes in authorization.users'],
  [{ authorization: '<< $X >>' }, 'a word without quotes in authorization'],
  [
    may({ publish: '<< $S >>' }),
    'a word without quotes in authorization.users.permissions.publish',
  ],
  [
    may({ subscribe: { deny: ['a', '<< b >>'] } }),
    'without quotes in authorization.users.permissions.sub',
  ],
  [may({ publish: null }), 'a word without quotes in authorization.users.permissions.publish'],
  [{ accounts: '<< $A >>' }, 'a word without quotes in accounts'],
  [
    { accounts: { A: login({ user: '<< $U >>' }) } },
    'a word without quotes in accounts.A.users.user',
  ],
  [{ accounts: { 'A.users': { password: '<< a >>' } } }, 'key accounts.A.users.password'],
  [{ system_account: '<< SYS >>' }, 'a word without quotes in system_account'],
  [{ tls: { cert_file: 'a', verify: '<< $V >>' } }, 'a word without quotes in tls.verify'],
])('a word without quotes is not read past: %j', async (config, why) => {
  expect(await lacksOf({ authorization: { users: [LOGIN] }, ...config })).toContain(why);
});

test('a password may be a word, and the name of a server', async () => {
  const users = [{ user: 'web', password: '<< word >>' }];
  expect(await lacksOf({ authorization: { users }, accounts: { A: { users: [] } } })).toBe('');
  expect(await refusals()).toEqual([]);
});

test.each<[object, string]>([
  [{ authorization: {} }, 'a login, and no user for it'],
  [{ authorization: undefined, accounts: { A: {} } }, 'a login, and no user for it'],
  [{ authorization: login({ user: 5 }) }, 'a user without a name in authorization.users'],
  [{ authorization: login({ user: '' }) }, 'a user without a name in authorization.users'],
  [{ authorization: login({ password: undefined }) }, 'two without a password'],
  [{ authorization: login({ password: '' }) }, 'two without a password'],
  [{ authorization: login({ password: '<< 1234 >>' }) }, 'two without a password'],
  [{ accounts: { A: login({ user: 'three', password: 5 }) } }, 'three without a password'],
])('no user is lost: %j', async (config, why) => {
  expect(await lacksOf({ authorization: { users: [LOGIN] }, ...config })).toContain(why);
});

test.each<[object, string]>([
  [{ pub: 'a', sub: 'b' }, '.pub, '],
  [{ allow_responses: { max: 5 } }, 'limits of allow_responses in '],
  [{ publish: { allow: 'a', max: 5 } }, '.publish.max'],
  [{ publish: { allow: [['a']] } }, '.publish'],
])('rights are checked in each place: %j', async (rights, why) => {
  const usual = { users: [LOGIN], default_permissions: rights };
  expect(await lacksOf({ authorization: usual })).toMatch(/authorization.default_permissions/);
  expect(await lacksOf({ authorization: usual })).toContain(why);
  expect(await lacksOf({ accounts: { A: usual } })).toMatch(/accounts.A.default_permissions/);
  expect(await lacksOf(may(rights))).toMatch(/authorization.users.permissions/);
});

test('one that is nested deeper than any is told, and breaks nothing', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const text = chartConfig('old', { authorization: { users: [LOGIN] }, tls: { timeout: 'HERE' } });
  expect(chartConfigIn(text.replace('"HERE"', deep))).toMatchObject({ lacks: ['key tls.timeout'] });
});

test('a server that says that it keeps streams is believed, whatever it was told', async () => {
  expect(await refusals()).toEqual([]);
  const [ip = '', asked] = [...world.servers].at(-1) ?? [];
  world.servers.set(ip, { ...Object(asked), hasStreams: true });
  expect(await refusals()).toEqual(['JetStreamOn']);
  expect(await refusal()).toMatch(/^JetStreamOn: .* \(JetStream\), as old-2 says/);
});

const FILE = ['--config', '/etc/nats-config/nats.conf'];

test.each<object>([
  { args: [...FILE, '-js', '-sd', '/data'] },
  { args: [...FILE, '--user', 'a'] },
  { args: ['--config', '/other'] },
  { args: undefined },
  { args: FILE, command: ['nats-server'] },
])('a container with arguments of its own speaks against it: %j', async (container) => {
  const nats = { name: 'nats', volumeMounts: [{ mountPath: '/etc/nats-config' }], ...container };
  const volumes = [{ name: 'config', configMap: { name: 'old-config' } }];
  const metadata = { labels: chartLabels('old') };
  const template = { metadata, spec: { containers: [nats], volumes } };
  beginChart({ set: { template } });
  expect(await refusals()).toEqual(['CannotSay']);
});

test('pods that are not numbered from 0 speak against it', async () => {
  beginChart({ set: { ordinals: { start: 5 } } });
  expect(await refusals()).toEqual(['NamedOtherwise']);
});
