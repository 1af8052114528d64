// Certificates of clusters that nobody has looked after for years: where members answer nobody a
// sentence says which one it is, and what to do; a plan is not begun with one that ends amid it.
import { createPrivateKey } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { PODS } from '../../../shared/stateful/parts.ts';
import { issue, makeAuthority } from '../../../shared/x509.ts';
import {
  beginWithTls,
  BOTH,
  clients,
  forServers,
  OF_SERVER,
  PAST,
  putOperator,
  putSecret,
  putServer,
  servers,
  validity,
} from './secrets.ts';
import { answer, namespace, NOW_MS, PODS_OF_OLD, refusal, refusals, world } from './world.ts';

const MINUTE_MS = 60_000;
const SOON = { fromMs: NOW_MS - 2_000, toMs: NOW_MS + 10 * MINUTE_MS };
const soon = makeAuthority('soon', SOON);
const aged = makeAuthority('aged', PAST);

beforeEach(() => {
  beginWithTls();
});

function silence(why: string): void {
  for (const pod of PODS_OF_OLD) answer(pod, `etcd cannot be reached: ${why}`);
}

function putOwn({ by = clients, ca = servers.certPem, time = validity, key = '' }): void {
  const { certPem, keyPem } = issue(by, { commonName: 'operator' }, time);
  putSecret('operator', {
    'etcd-client.crt': certPem,
    'etcd-client.key': key || keyPem,
    'etcd-client-ca.crt': ca,
  });
}

test('that of the members has expired', async () => {
  putServer(issue(clients, OF_SERVER, PAST));
  putOperator(BOTH);
  silence('certificate has expired');
  expect(await refusal()).toMatch(
    /^GatewayClosed: .*shop\/server has a certificate that has expired.* none has to start anew/,
  );
});

test('the authority of the members has expired', async () => {
  putServer(issue(aged, OF_SERVER, validity));
  putOwn({ ca: aged.certPem });
  silence('certificate has expired');
  expect(await refusal()).toMatch(
    /^AuthorityExpired: .*in etcd-client-ca\.crt of Secret shop\/operator has expired.* by hand/,
  );
});

test('the authority of the clients has expired', async () => {
  const { certPem } = issue(servers, OF_SERVER, validity);
  putSecret('server', { 'server.crt': certPem, 'server-ca.crt': aged.certPem });
  putOwn({ by: aged });
  silence('certificate has expired');
  expect(await refusal()).toMatch(
    /^AuthorityExpired: .*in server-ca\.crt of Secret shop\/server has expired/,
  );
});

test('an authority that lasts beside one that has expired does', async () => {
  putServer(issue(clients, OF_SERVER, validity));
  putOperator(`${aged.certPem}${BOTH}`);
  silence('nobody is there');
  expect(await refusals()).toEqual(['NoQuorum']);
});

test('the authority that the operator trusts is another one', async () => {
  putServer(issue(clients, OF_SERVER, validity));
  silence('self-signed certificate in certificate chain');
  expect(await refusal()).toMatch(
    /^CertificateUnfit: .*nobody in etcd-client-ca\.crt of Secret shop\/operator signed server\./,
  );
});

test.each([
  ['that nobody in server-ca.crt of Secret shop/server signed', { by: servers, ca: BOTH }],
  ['that is good for servers alone', { by: clients, ca: BOTH }],
])('members do not believe a certificate of the operator %s', async (why, own) => {
  putServer(issue(clients, OF_SERVER, validity));
  const { certPem, keyPem } = issue(own.by, {}, validity);
  const isAlone = why.includes('alone');
  putSecret('operator', {
    'etcd-client.crt': isAlone ? forServers(certPem) : certPem,
    'etcd-client.key': keyPem,
    'etcd-client-ca.crt': own.ca,
  });
  silence('bad certificate');
  const message = await refusal();
  expect(message).toContain(`CertificateUnfit: No member answers: Secret shop/operator, with`);
  expect(message).toContain(`has a certificate ${why}`);
});

test('members whose pods have ended are not told to take up a certificate', async () => {
  putServer(issue(servers, OF_SERVER, validity));
  for (const name of PODS_OF_OLD) {
    world.kube.change(PODS, { namespace, name }, { status: { phase: 'Failed' } });
  }
  expect(await refusals()).toEqual(['NoQuorum']);
});

test.each([
  ['etcd-client.crt of Secret shop/operator', () => putOwn({ time: SOON })],
  ['etcd-client-ca.crt of Secret shop/operator', () => putOwn({ ca: soon.certPem })],
  ['server.crt of Secret shop/server', () => putServer(issue(servers, OF_SERVER, SOON))],
])('nobody could end the alarm: %s expires amid it', async (which, put) => {
  put();
  expect(await refusal()).toContain(`CertificateUnfit: ${which} expires within a day`);
});

test('the key of the operator is encrypted', async () => {
  const { certPem, keyPem } = issue(clients, { commonName: 'operator' }, validity);
  for (const type of ['pkcs8', 'sec1'] as const) {
    const how = { type, format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' } as const;
    putSecret('operator', {
      'etcd-client.crt': certPem,
      'etcd-client.key': createPrivateKey(keyPem).export(how).toString(),
      'etcd-client-ca.crt': servers.certPem,
    });
    expect(await refusal()).toContain(
      'has a key that is encrypted, and nobody has its passphrase.',
    );
  }
});

test.each([
  ['server', 'server-ca.crt', () => putSecret('server', { 'server-ca.crt': 'x' })],
  ['operator', 'etcd-client-ca.crt', () => putOwn({ ca: 'x' })],
])('Secret %s has no authority in its %s', async (name, entry, put) => {
  put();
  expect(await refusal()).toContain(
    `SecretMissing: Secret shop/${name} has no certificate in ${entry}. Put that into it.`,
  );
});
