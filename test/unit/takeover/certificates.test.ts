// Reasons against a takeover in the certificates of a cluster with TLS: there is no plan to
// confirm, so nothing is frozen, and a sentence says what to do.
import { beforeEach, expect, test } from 'vitest';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { issue } from '../../../shared/x509.ts';
import {
  beginWithTls,
  BOTH,
  clients,
  forServers,
  HOSTS,
  into,
  OF_SERVER,
  PAST,
  putGiven,
  putOperator,
  putSecret,
  putServer,
  servers,
  validity,
} from './secrets.ts';
import {
  answer,
  asked,
  begin,
  forbid,
  namespace,
  plan,
  PODS_OF_OLD,
  putTakeover,
  refusal,
  refusals,
  statusOf,
  world,
} from './world.ts';

beforeEach(() => {
  beginWithTls();
});

test('all fit, and members are asked as the operator asked them', async () => {
  expect(await refusal()).toBe('');
  expect(asked).toMatchObject({
    endpoint: {
      url: expect.stringMatching(/^https:/),
      serverName: expect.stringMatching(/^old-[abc]\.old\.shop\.svc$/),
    },
    tls: { ca: servers.certPem },
  });
  const kept = (await plan()).objects.filter(({ kind }) => kind === 'Secret');
  expect(kept.map(({ action, name }) => `${action} ${name}`)).toEqual([
    'Keep operator',
    'Keep server',
    'Keep given',
  ]);
});

const noted = async (): Promise<readonly string[]> =>
  (await plan()).notes.filter(({ reason }) => reason === 'NamesDiffer').map((one) => one.message);

test('a name that clients may dial is noted where the new members have none for it', async () => {
  const long = 'old-client.shop.svc.cluster.local';
  putServer(issue(servers, { hosts: [...OF_SERVER.hosts, long] }, validity));
  expect(await noted()).toEqual([expect.stringContaining(`a certificate for ${long} as well`)]);
  putGiven([...HOSTS, long]);
  expect(await noted()).toEqual([]);
});

test.each([
  ['*.shop.svc.cluster.local', 'old-client.shop.svc.cluster.local'],
  ['10.96.0.77', '10.96.0.77'],
])('%s in the old certificate, which clients may use, is noted too', async (host, told) => {
  putServer(issue(servers, { hosts: [...OF_SERVER.hosts, host, '127.0.0.1'] }, validity));
  expect(await noted()).toEqual([expect.stringContaining(`a certificate for ${told} as well`)]);
  putGiven([...HOSTS, host]);
  expect(await noted()).toEqual([]);
});

test('the id is another one when a certificate is', async () => {
  const { id } = await plan();
  putGiven(HOSTS);
  const { id: next } = await plan();
  expect([id === undefined, next === undefined, id === next]).toEqual([false, false, false]);
});

test('the new members would show those of another authority', async () => {
  putTakeover(into({}));
  expect(await refusal()).toMatch(
    /^CertificateMissing: .* in Secret operator\) sign .* for old-client\.shop\.svc, .*\*\.new-/,
  );
});

test('the new members would have none', async () => {
  putTakeover(into({ tls: { clients: { mode: 'None' } } }));
  expect(await refusal()).toMatch(/^TlsDiffers: Clients connect over TLS/);
});

test.each(HOSTS)('the certificate is not for %s', async (host) => {
  putGiven(HOSTS.filter((one) => one !== host));
  const message = await refusal();
  expect(message).toContain(
    'CertificateUnfit: Secret shop/given, which spec.into.spec.tls.clients',
  );
  expect(message).toContain(`has a certificate that is not for ${host}: clients would be cut off`);
});

test('the certificate is of an authority that clients do not know', async () => {
  putGiven(HOSTS, { by: clients });
  expect(await refusal()).toMatch(
    /^CertificateUnfit: .*has a certificate that no authority of the clients signed/,
  );
});

test('the new members would not trust the authority of their own certificate', async () => {
  const { certPem, keyPem } = issue(servers, { hosts: HOSTS }, validity);
  putSecret('given', { 'tls.crt': certPem, 'tls.key': keyPem, 'ca.crt': clients.certPem });
  expect(await refusal()).toMatch(
    /^CertificateUnfit: .*nobody in its ca\.crt signed, so .* Add etcd-client-ca\.crt of Secret/,
  );
});

test('the certificate of the new members is good for servers alone', async () => {
  const { certPem, keyPem } = issue(servers, { hosts: HOSTS }, validity);
  const alone = forServers(certPem);
  putOperator(`${servers.certPem}${alone}`);
  putSecret('given', { 'tls.crt': alone, 'tls.key': keyPem, 'ca.crt': `${BOTH}${alone}` });
  expect(await refusal()).toMatch(
    /^CertificateUnfit: Secret shop\/given, .*good for servers alone, and the new members show it/,
  );
});

test('the certificate has expired', async () => {
  const { certPem, keyPem } = issue(servers, { hosts: HOSTS }, PAST);
  putSecret('given', { 'tls.crt': certPem, 'tls.key': keyPem, 'ca.crt': BOTH });
  expect(await refusal()).toMatch(
    /^CertificateUnfit: Secret shop\/given, .*has a certificate that has expired: clients/,
  );
});

test('the key is that of another certificate', async () => {
  const { certPem } = issue(servers, { hosts: HOSTS }, validity);
  const { keyPem } = issue(servers, { hosts: HOSTS }, validity);
  putSecret('given', { 'tls.crt': certPem, 'tls.key': keyPem, 'ca.crt': BOTH });
  expect(await refusal()).toMatch(
    /^CertificateUnfit: Secret shop\/given, .*has a key that does not belong to its certificate/,
  );
});

test.each([
  ['a certificate that has expired', PAST, undefined],
  ['a key that does not belong to its certificate', validity, servers.keyPem],
  ['no certificate and key that can be read', validity, 'x'],
])('that of the operator has %s, and nobody is asked with it', async (why, time, otherKey) => {
  const { certPem, keyPem } = issue(clients, { commonName: 'operator' }, time);
  putSecret('operator', {
    'etcd-client.crt': certPem,
    'etcd-client.key': otherKey ?? keyPem,
    'etcd-client-ca.crt': servers.certPem,
  });
  const message = await refusal();
  expect(message).toContain(
    `CertificateUnfit: Secret shop/operator, with which members are asked, has ${why}`,
  );
  expect(message).not.toContain('NoQuorum');
  expect(statusOf().members?.[0]?.silent).toBe('There is no certificate to ask it with.');
});

test('clients with certificates of before would be refused', async () => {
  putGiven(HOSTS, { ca: '' });
  expect(await refusal()).toMatch(/^CertificateUnfit: ca\.crt of Secret shop\/given has not all/);
});

test.each([
  ['operator', 'There is no Secret shop/operator'],
  ['server', 'There is no Secret shop/server'],
  ['given', 'There is no Secret shop/given'],
])('Secret %s is not there', async (name, message) => {
  world.kube.remove(SECRETS, { namespace, name });
  expect(await refusal()).toContain(`SecretMissing: ${message}`);
});

test('a key is missing', async () => {
  putSecret('operator', { 'etcd-client.crt': 'x' });
  const message = await refusal();
  expect(message).toContain('has no etcd-client.key and no etcd-client-ca.crt. Put that into it.');
  expect(statusOf().members?.[0]?.silent).toBe('There is no certificate to ask it with.');
});

test('without a certificate of the operator nobody says that there is no quorum', async () => {
  world.kube.remove(SECRETS, { namespace, name: 'operator' });
  expect(await refusals()).toEqual(['SecretMissing']);
  expect(statusOf().members?.[0]?.silent).toBe('There is no certificate to ask it with.');
  begin({ legacy: { TLS: { static: { member: { serverSecret: 'server' } } } } });
  putSecret('server', { 'server-ca.crt': clients.certPem });
  expect(await refusal()).toMatch(/^SecretMissing: Its spec\.TLS\.static\.operatorSecret names/);
});

test('a Secret may not be read', async () => {
  forbid('secrets', 'server');
  expect(await refusal()).toContain(
    'SecretForbidden: The function may not read Secret shop/server. Grant it that: npm run -s ' +
      'rights -- takeover -n shop --into new --secret operator --secret server --secret given ' +
      '| kubectl apply -f -',
  );
});

/** As those of 3.3 do whose gateway may not ask them. */
function silence(): void {
  for (const pod of PODS_OF_OLD) answer(pod, 'etcd answered 503: write: broken pipe');
}

test.each([
  ['good for servers alone', forServers],
  ['that nobody in its server-ca.crt signed', (certPem: string) => certPem],
])('members answer nobody, with a certificate %s', async (why, shown) => {
  const { certPem, keyPem } = issue(servers, OF_SERVER, validity);
  putServer({ certPem: shown(certPem), keyPem });
  // Where members answer, it is good enough for them.
  expect(await refusals()).toEqual([]);
  silence();
  expect(await refusals()).toEqual(['GatewayClosed']);
  const message = await refusal();
  expect(message).toContain(`Secret shop/server has a certificate`);
  expect(message).toContain(why);
});

test('members answer nobody, and it is not their certificate', async () => {
  putServer(issue(clients, OF_SERVER, validity));
  putOperator(BOTH);
  silence();
  expect(await refusals()).toEqual(['NoQuorum']);
});
