// Edits that are refused hold up nothing else: renewed certificates and new passwords reach the
// servers, and lost volumes are replaced, while the condition says what is refused.
import { expect, test } from 'vitest';
import { SECRETS, STATEFUL_SETS } from '../../../functions/nats-cluster/render/manifests.ts';
import type { Account } from '../../../shared/api/nats-cluster.ts';
import { type Identity, issue, makeAuthority } from '../../../shared/x509.ts';
import { NAMESPACE } from './model/cluster-model.ts';
import { type Edit, Run } from './model/run.ts';

const DAY_MS = 86_400_000;
/** Managed certificates last 90 days, and are renewed 30 days before their end. */
const DUE_DAYS = 61;
const LATER_MS = 400_000;
const TLS: Edit = { image: 'nats:2.15.2', tls: { clients: {} } };
const OLD_IMAGE: Edit = { image: 'nats:2.12.1' };
const DOWNGRADE = { status: 'True', reason: 'DowngradeRefused' };

const account = (name: string, ...users: readonly string[]): Account => ({
  name,
  jetStream: true,
  users: users.map((user) => ({ name: user, passwordSecret: { name: `of-${user}`, key: 'p' } })),
});

const text = (base64 = ''): string => Buffer.from(base64, 'base64').toString();

function dataOf(run: Run, name: string): Readonly<Record<string, string>> {
  const { data = {} } = Object(run.model.kube.objects.get(`secrets/${NAMESPACE}/${name}`));
  const entries = Object.entries(data as Record<string, string>);
  return Object.fromEntries(entries.map(([key, value]) => [key, text(value)]));
}

function putSecret(run: Run, name: string, data: Readonly<Record<string, string>>): void {
  const entries = Object.entries(data);
  const encoded = entries.map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  const metadata = { namespace: NAMESPACE, name };
  const body = { type: 'Opaque', data: Object.fromEntries(encoded) };
  run.model.kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, ...body });
}

async function atRest(...edits: readonly Edit[]): Promise<Run> {
  const run = new Run();
  for (const user of ['a', 'b']) putSecret(run, `of-${user}`, { p: `first-${user}` });
  for (const edit of edits) {
    run.edit(edit);
    await run.converge();
  }
  return run;
}

/** Some looks later, each with all read anew. */
async function goOn(run: Run): Promise<void> {
  for (let sweeps = 0; sweeps < 6; sweeps += 1) {
    run.model.nowMs += LATER_MS;
    await run.sweep();
  }
}

/** Servers run on the file that is in the Secret of the configuration. */
function expectOnFile({ model }: Run): void {
  for (const [name, { digest }] of model.servers) expect(digest).toBe(model.fileOf(name).digest);
}

/** Of the system account. */
function expectPassword({ model }: Run, wanted: string): void {
  for (const { password } of model.servers.values()) expect(password).toBe(wanted);
}

const config = (run: Run): string => dataOf(run, 'nats-config')['nats.conf'] ?? '';

async function expectRenewal(run: Run): Promise<void> {
  const before = dataOf(run, 'nats-config')['clients.crt'];
  run.model.nowMs += DUE_DAYS * DAY_MS;
  await goOn(run);
  const { 'clients.crt': made } = dataOf(run, 'nats-tls');
  expect(made).not.toBe(before);
  expect(dataOf(run, 'nats-config')['clients.crt']).toBe(made);
  expectOnFile(run);
}

test('a refused downgrade does not hold up a renewed certificate', async () => {
  const run = await atRest(TLS);
  run.edit(OLD_IMAGE);
  await goOn(run);
  expect(run.condition('Degraded')).toMatchObject(DOWNGRADE);
  await expectRenewal(run);
  expect(run.condition('Degraded')).toMatchObject(DOWNGRADE);
  expect(run.isReady()).toBe(false);
  const versions = [...run.model.servers.values()].map(({ version }) => version);
  expect(versions).toEqual(['2.15.2', '2.15.2', '2.15.2']);
  expect(run.writes.filter((one) => one.startsWith('delete'))).toEqual([]);
});

test('a refused downgrade does not hold up what was edited with it', async () => {
  const run = await atRest(TLS);
  run.edit({ ...OLD_IMAGE, monitoringPort: 8_333 });
  await goOn(run);
  expect(config(run)).toContain('http_port: 8333');
  expectOnFile(run);
  expect(run.condition('Degraded')).toMatchObject(DOWNGRADE);
  const versions = [...run.model.servers.values()].map(({ version }) => version);
  expect(versions).toEqual(['2.15.2', '2.15.2', '2.15.2']);
});

test('a refused downgrade does not hold up a lost volume, and is told meanwhile', async () => {
  const run = await atRest(TLS);
  run.edit(OLD_IMAGE);
  await goOn(run);
  run.model.loseVolume('nats-2');
  await goOn(run);
  const deleted = run.writes.filter((one) => one.startsWith('delete persistentvolumeclaims'));
  expect(deleted).toEqual(['delete persistentvolumeclaims data-nats-2']);
  expect(run.condition('Degraded')).toMatchObject(DOWNGRADE);
});

test('a StatefulSet with another image that is too old takes no server back', async () => {
  const run = await atRest(TLS);
  const containers = [{ name: 'nats', image: 'nats:2.12.1' }];
  const at = { namespace: NAMESPACE, name: 'nats' };
  run.model.kube.change(STATEFUL_SETS, at, { spec: { template: { spec: { containers } } } });
  run.edit({ image: 'nats:2.12.0' });
  await goOn(run);
  expect(run.condition('Degraded')).toMatchObject(DOWNGRADE);
  expect(run.writes.filter((one) => one.startsWith('delete'))).toEqual([]);
});

test('an account in use that is to go holds up no renewed certificate', async () => {
  const run = await atRest(TLS);
  run.model.addStream('ORDERS', ['nats-0', 'nats-1', 'nats-2']);
  run.edit({ accounts: [account('SHOP', 'a')] });
  await goOn(run);
  await expectRenewal(run);
  expect(run.condition('Degraded')).toMatchObject({ status: 'True', reason: 'AccountInUse' });
  expect(config(run)).toContain('"DEFAULT"');
  expect(config(run)).not.toContain('"SHOP"');
});

test('two edits that are refused together hold up no renewed certificate', async () => {
  const run = await atRest(TLS);
  run.model.addStream('ORDERS', ['nats-0', 'nats-1', 'nats-2']);
  run.edit({ ...OLD_IMAGE, accounts: [account('SHOP', 'a')] });
  await expectRenewal(run);
  expect(run.condition('Degraded')).toMatchObject(DOWNGRADE);
  expect(config(run)).not.toContain('"SHOP"');
});

test('an account that may be in use on a server that is away holds up no certificate', async () => {
  const accounts = { accounts: [account('DEFAULT', 'a'), account('SHOP', 'b')] };
  const run = await atRest({ ...TLS, ...accounts });
  run.model.addStream('ORDERS', ['nats-0', 'nats-1', 'nats-2']);
  run.model.stopServer('nats-2');
  run.model.hasVolume = (server) => server !== 'nats-2';
  run.edit({ accounts: [account('DEFAULT', 'a')] });
  await expectRenewal(run);
  expect(config(run)).toContain('"SHOP"');
  expect(run.model.status()['plan']).toMatchObject({ next: 'Take SHOP from the accounts' });
});

test('a Secret that one user lacks holds up neither certificates nor others', async () => {
  const run = await atRest({ ...TLS, accounts: [account('DEFAULT', 'a', 'b')] });
  run.model.kube.remove(SECRETS, { namespace: NAMESPACE, name: 'of-a' });
  putSecret(run, 'of-b', { p: 'second-b' });
  putSecret(run, 'nats-system', { ...dataOf(run, 'nats-system'), password: 'another' });
  await expectRenewal(run);
  expect(run.condition('Degraded')).toMatchObject({ status: 'True', reason: 'PasswordMissing' });
  expect(config(run)).toContain('first-a');
  expect(config(run)).toContain('second-b');
  expect(config(run)).not.toContain('first-b');
  expectPassword(run, 'another');
});

test('a user who stands in two accounts keeps the password, whoever has his name', async () => {
  const run = await atRest({ ...TLS, accounts: [account('DEFAULT', 'a')] });
  putSecret(run, 'other', { p: 'of-another' });
  const [user] = account('SHOP', 'a').users;
  const other = { ...user, passwordSecret: { name: 'other', key: 'p' } };
  run.edit({ accounts: [{ ...account('SHOP'), users: [other] }, account('DEFAULT', 'a')] });
  await expectRenewal(run);
  expect(run.condition('Degraded')).toMatchObject({ status: 'True', reason: 'UserTwice' });
  expect(config(run)).toContain('first-a');
  expect(config(run)).not.toContain('of-another');
});

function ownFiles(by: Identity, nowMs: number, host: string) {
  const validity = { fromMs: nowMs - DAY_MS, toMs: nowMs + 300 * DAY_MS };
  const { certPem, keyPem } = issue(by, { commonName: host, hosts: [host] }, validity);
  return { 'tls.crt': certPem, 'tls.key': keyPem, 'ca.crt': by.certPem };
}

test('a certificate that does not fit holds up neither that of routes nor passwords', async () => {
  const start = Date.parse('2026-01-02T00:00:00Z');
  const authority = makeAuthority('theirs', { fromMs: start - DAY_MS, toMs: start + 900 * DAY_MS });
  const run = new Run();
  putSecret(run, 'theirs', ownFiles(authority, start, 'nats.shop.svc'));
  run.edit({ tls: { clients: { secretName: 'theirs' }, routes: {} } });
  await run.converge();
  const before = dataOf(run, 'nats-config');
  putSecret(run, 'theirs', ownFiles(authority, start, 'elsewhere'));
  run.model.nowMs += DUE_DAYS * DAY_MS;
  putSecret(run, 'nats-system', { ...dataOf(run, 'nats-system'), password: 'another' });
  await goOn(run);
  const now = dataOf(run, 'nats-config');
  expect(run.condition('Degraded')).toMatchObject({ status: 'True', reason: 'CertificateUnfit' });
  expect(now['clients.crt']).toBe(before['clients.crt']);
  expect(now['routes.crt']).not.toBe(before['routes.crt']);
  expectOnFile(run);
  expectPassword(run, 'another');
});

test('TLS that cannot be turned on holds up no password, and nobody is told of it', async () => {
  const run = await atRest({
    accounts: [account('DEFAULT', 'a'), { ...account('B'), users: [{ name: 'c' }] }],
  });
  run.edit({ tls: { clients: { secretName: 'not-there' } } });
  putSecret(run, 'of-a', { p: 'second-a' });
  await goOn(run);
  expect(run.condition('Degraded')).toMatchObject({ status: 'True', reason: 'CertificateUnfit' });
  expect(config(run)).toContain('second-a');
  expectOnFile(run);
  expect(dataOf(run, 'nats-user-c')['url']).toMatch(/^nats:/);
});
