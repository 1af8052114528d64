// A takeover of a chart copies passwords as they stand now, so it is held to what its servers say
// that they have loaded: clients who go by a former password would be refused.
import { expect, test } from 'vitest';
import { digestOf } from '../../../functions/takeover/nats/made/chart-digest.ts';
import { parsed } from '../../../functions/takeover/nats/made/chart-text.ts';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { chartConfig } from '../../builders/legacy-chart.ts';
import { beginChart, LOGIN } from './chart-world.ts';
import { namespace, notes, refusal, refusals, world } from './world.ts';

const USERS = { users: [{ user: 'web', password: '<< $WEB >>' }] };
const secretKeyRef = { name: 'web-login', key: 'password' };
const PODS = ['old-0', 'old-1', 'old-2'];

function putLogin(password: string): void {
  const data = { password: Buffer.from(password).toString('base64') };
  const metadata = { namespace, name: 'web-login' };
  world.kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, data });
}

/** Each server has loaded this configuration with this password. */
function load(config: object, password: string, prefix = ''): void {
  const text = parsed(chartConfig('old', config)) ?? {};
  for (const [at, pod] of PODS.entries()) {
    const values = new Map([
      ['SERVER_NAME', `${prefix}${pod}`],
      ['WEB', password],
    ]);
    const digest = digestOf(text, (name) => values.get(name));
    const ip = [...world.servers.keys()][at] ?? '';
    world.servers.set(ip, { ...Object(world.servers.get(ip)), digest });
  }
}

const begin = (config: object, others: readonly object[] = []): void => {
  const env = [{ name: 'WEB', valueFrom: { secretKeyRef } }, ...others];
  beginChart({ config, set: { env } });
  putLogin('first');
};

test('it is the digest that nats-server 2.14.9 tells of the same file', () => {
  const permissions = { publish: 'null', subscribe: ['<a>.&', 'b'] };
  const config = {
    server_name: { word: '$SERVER_NAME' },
    port: 24222,
    lame_duck_duration: '30s',
    http_port: 28222,
    authorization: { users: [{ user: 'web', permissions, password: { word: '$WEB' } }] },
  };
  const values = new Map([
    ['SERVER_NAME', 'old-0'],
    ['WEB', 'secret 1'],
  ]);
  expect(digestOf(config, (name) => values.get(name))).toBe(
    'sha256:41a70dda4d06ca1cad08dab6053ba8185697c6f44f6c03d1847283d193a6bdfd',
  );
  expect(digestOf(config, () => undefined)).toBeUndefined();
});

test('a Secret that was changed since the servers were started speaks against it', async () => {
  begin({ authorization: USERS });
  load({ authorization: USERS }, 'first');
  expect(await refusals()).toEqual([]);
  putLogin('second');
  expect(await refusals()).toEqual(['ConfigNotLoaded']);
  const told = await refusal();
  expect(told).toMatch(/^ConfigNotLoaded: old-0, old-1, old-2 has not loaded /);
  expect(told).toContain('(kubectl -n shop rollout restart statefulset old)');
});

test('users that no server has loaded speak against it', async () => {
  begin({ authorization: { users: [LOGIN, { user: 'two', password: 'b' }] } });
  load({ authorization: { users: [LOGIN] } }, '');
  expect(await refusals()).toEqual(['ConfigNotLoaded']);
});

test('where servers do not tell what they have loaded that is a note', async () => {
  begin({ authorization: USERS });
  expect(await notes()).toContain('PasswordsAsOfNow');
  load({ authorization: USERS }, 'first');
  expect(await notes()).not.toContain('PasswordsAsOfNow');
});

test('servers whose names have a prefix are known by that', async () => {
  begin({ authorization: USERS }, [{ name: 'SERVER_NAME', value: 'a-$(POD_NAME)' }]);
  load({ authorization: USERS }, 'first', 'a-');
  expect(await refusals()).toEqual([]);
  expect(await notes()).not.toContain('PasswordsAsOfNow');
  load({ authorization: USERS }, 'first');
  expect(await refusals()).toEqual(['ConfigNotLoaded']);
});
