// The plan for an EtcdCluster of aenix's operator whose clients have TLS: the three Secrets that
// its spec names, of which the one with the authority alone may stay unread.
import { beforeEach, expect, test } from 'vitest';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { TAKEOVERS } from '../../../shared/api/takeover.ts';
import { issue } from '../../../shared/x509.ts';
import { GONE, leaveAenix } from './aenix-world.ts';
import { clients, into, putGiven, putSecret, servers, validity } from './secrets.ts';
import { asked, forbid, namespace, plan, refusal, world } from './world.ts';

const tls = {
  serverSecret: 'server',
  clientSecret: 'client',
  clientTrustedCASecret: 'trust',
  peerSecret: 'peer',
};
const HOSTS = ['old.shop.svc', 'new.shop.svc', '*.new-headless.shop.svc'];
const OF_MEMBERS = { hosts: ['*.old-headless.shop.svc', 'old.shop.svc'] };

beforeEach(() => {
  leaveAenix({ metadata: GONE, spec: { security: { tls } } });
  const spec = into({ tls: { clients: { secretName: 'given' } } });
  world.kube.change(TAKEOVERS, { namespace, name: 'over' }, { spec });
  const operator = issue(clients, { commonName: 'operator' }, validity);
  putSecret('client', {
    'tls.crt': operator.certPem,
    'tls.key': operator.keyPem,
    'ca.crt': servers.certPem,
  });
  putSecret('server', { 'tls.crt': issue(servers, OF_MEMBERS, validity).certPem });
  putSecret('trust', { 'ca.crt': clients.certPem });
  putGiven(HOSTS);
});

test('members are asked as the operator did, and nothing speaks against it', async () => {
  const { refusals, objects } = await plan();
  expect(refusals).toEqual([]);
  expect(asked).toMatchObject({
    endpoint: { serverName: expect.stringMatching(/^old-\d[.]old-headless[.]shop[.]svc$/) },
    tls: { ca: servers.certPem },
  });
  const kept = objects.filter(({ kind }) => kind === 'Secret').map(({ name }) => name);
  expect(kept).toEqual(['client', 'server', 'trust', 'given']);
});

test('the Secret of the authority alone need not be granted', async () => {
  forbid('secrets', 'trust');
  expect(await refusal()).toBe('');
  putGiven(HOSTS, { ca: '' });
  expect(await refusal()).toContain('CertificateUnfit: ca.crt of Secret shop/given has not all');
});

test.each([
  ['client', 'SecretMissing: There is no Secret shop/client'],
  ['server', 'SecretMissing: There is no Secret shop/server'],
  ['trust', 'SecretMissing: There is no Secret shop/trust'],
])('without Secret %s it is refused', async (name, why) => {
  world.kube.remove(SECRETS, { namespace, name });
  expect(await refusal()).toContain(why);
});

test('a certificate for the names of another operator is refused', async () => {
  putGiven(['old-client.shop.svc', ...HOSTS.slice(1)]);
  expect(await refusal()).toMatch(/CertificateUnfit: Secret shop\/given, .* old[.]shop[.]svc/);
});
