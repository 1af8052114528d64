// Certificates that are renewed over the years: servers that were told, and servers that have
// not yet believe each other at every renewal, and so do clients with a copy of `ca.crt` that is
// months old. The handshakes are real, so the last of the renewals is always now.
import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { authoritiesAt, isOfOwner } from '../../../shared/stateful/certificates/authorities.ts';
import {
  type CertificatesRead,
  type Managed,
  readGiven,
  readManaged,
} from '../../../shared/stateful/certificates/managed.ts';
import {
  type CertificateFiles,
  certificatesIn,
  dataOf,
  type SecretData,
} from '../../../shared/stateful/certificates/secret-data.ts';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { commonNameOf, issue, makeAuthority } from '../../../shared/x509.ts';
import { handshake } from './handshake.ts';
import { KubeModel } from './kube-model.ts';
import { expectNobodyIsCutOff } from './lost-authority.ts';
import { OWNER } from './samples.ts';

const DAY_MS = 86_400_000;
const RENEWED_EACH_DAYS = 60;
const HOSTS = { clients: 'db.shop.svc', routes: 'db-1.db-headless.shop.svc' } as const;
type Listener = keyof typeof HOSTS;
type Files = Readonly<Record<Listener, CertificateFiles>>;

const MANAGED: Managed<Listener> = {
  owner: OWNER,
  suffix: '-tls',
  listeners: [
    { listener: 'clients', hosts: [HOSTS.clients, 'localhost'] },
    { listener: 'routes', hosts: ['*.db-headless.shop.svc'] },
  ],
  recover: () => ({ data: {} }),
};
const AT = { namespace: 'shop', name: 'db-tls' };
const { signal } = new AbortController();

interface When {
  readonly managed?: Managed<Listener>;
  readonly kept?: Map<string, SecretData>;
}

/** As a server has them at that time; made or renewed first when that is due. */
async function filesAt(
  kube: KubeModel,
  nowMs: number,
  { managed = MANAGED, kept = new Map() }: When = {},
): Promise<Files> {
  const deps = { kube: kube.client, nowMs, signal, kept };
  const one = async (listener: Listener): Promise<CertificateFiles> => {
    const read = await readManaged(deps, managed, listener);
    if (read.files !== undefined) return read.files;
    if (read.toMake === undefined) throw new Error('neither there nor made');
    kube.put(read.toMake.ref, read.toMake.manifest);
    return one(listener);
  };
  return { clients: await one('clients'), routes: await one('routes') };
}

/** The files of servers after each of so many renewals, the last of which is now. */
async function history(renewals: number): Promise<readonly Files[]> {
  const kube = new KubeModel();
  const nowMs = Date.now();
  const files: Files[] = [];
  for (let ago = renewals; ago >= 0; ago -= 1) {
    files.push(await filesAt(kube, nowMs - ago * RENEWED_EACH_DAYS * DAY_MS));
  }
  return files;
}

const believes = (listener: Listener, asks: CertificateFiles, server: CertificateFiles) =>
  handshake({ host: HOSTS[listener], isMutual: listener === 'routes' }, asks, server);

const believed = ['believed', 'believed'];

/** Each 55th makes a successor, which signs from the fifth after that on. */
const NEAR_A_CHANGE = [1, 54, 55, 56, 59, 60, 61, 62, 109, 110, 114, 115, 116];

test.each(NEAR_A_CHANGE)('at renewal %d both sides believe each other', async (renewal) => {
  const files = await history(renewal);
  const [before, after] = [files.at(-2), files.at(-1)];
  if (before === undefined || after === undefined) throw new Error('nothing was renewed');
  for (const listener of ['routes', 'clients'] as const) {
    const sides = [before[listener], after[listener]] as const;
    expect([
      await believes(listener, sides[0], sides[1]),
      await believes(listener, sides[1], sides[0]),
    ]).toEqual(believed);
  }
  // A client that took its copy of ca.crt half a year ago.
  const copied = files.at(-4) ?? before;
  expect(await believes('clients', copied.clients, after.clients)).toBe('believed');
});

test('in its last year an authority has a successor; after its end it is forgotten', async () => {
  const files = await history(120);
  const counts = files.map(({ clients: { ca } }) => certificatesIn(ca).length);
  expect(counts.slice(0, 55)).toEqual(Array.from({ length: 55 }, () => 1));
  expect(counts.slice(55, 61)).toEqual([2, 2, 2, 2, 2, 2]);
  expect(counts.slice(61, 109)).toEqual(Array.from({ length: 48 }, () => 1));
  const signers = files.map(({ clients: { ca } }) => certificatesIn(ca)[0]);
  expect(new Set(signers).size).toBe(3);
});

async function storedIn(kube: KubeModel): Promise<SecretData> {
  const secret = await kube.get(SECRETS, AT);
  if (secret === null) throw new Error('it is not there');
  return dataOf(secret);
}

test('their Secret deleted, an instance that remembers it makes it as it was', async () => {
  const [kube, kept] = [new KubeModel(), new Map<string, SecretData>()];
  const nowMs = Date.now();
  await filesAt(kube, nowMs, { kept });
  const before = await storedIn(kube);
  kube.remove(SECRETS, AT);
  await filesAt(kube, nowMs, { kept });
  expect(await storedIn(kube)).toEqual(before);
});

test('without the key of their authority they stay until clients know the next one', async () => {
  const kube = new KubeModel();
  const startedMs = Date.now() - 84 * DAY_MS;
  const first = await filesAt(kube, startedMs);
  kube.change(SECRETS, AT, { data: { 'ca.key': '' } });
  const after = await filesAt(kube, startedMs + DAY_MS);
  const late = await filesAt(kube, startedMs + 82 * DAY_MS);
  const renewed = await filesAt(kube, Date.now());
  await expectNobodyIsCutOff({ first, after, late, renewed }, believes);
});

test('a Secret that is gone is made of what is recovered, and the loss is told', async () => {
  const kube = new KubeModel();
  const nowMs = Date.now();
  const first = await filesAt(kube, nowMs);
  const lost = { reason: 'AuthorityLost', message: 'It was gone.' };
  const data = { 'ca.crt': first.clients.ca, 'clients.crt': '', 'clients.key': '' };
  const { certificate, key } = first.routes;
  const left = { ...data, 'routes.crt': certificate, 'routes.key': key };
  const managed = { ...MANAGED, recover: () => ({ data: left, lost }) };
  kube.remove(SECRETS, AT);
  const deps = { kube: kube.client, nowMs, signal };
  expect((await readManaged(deps, managed, 'clients')).toMake?.lost).toEqual(lost);
  const after = await filesAt(kube, nowMs, { managed });
  expect(after.routes).toMatchObject({ certificate, key });
  expect(after.clients.certificate).not.toBe(first.clients.certificate);
  expect(await believes('clients', after.clients, first.clients)).toBe('believed');
});

test('an authority is named after its owner, and no two have one name', async () => {
  const names = [
    await filesAt(new KubeModel(), Date.now()),
    await filesAt(new KubeModel(), Date.now()),
  ].map(({ clients: { ca } }) => new X509Certificate(ca).subject);
  for (const name of names) expect(name).toMatch(/^CN=Database [0-9a-f]{8} shop\/db$/);
  expect(new Set(names).size).toBe(2);
});

test('until the next authority signs, it is said since when clients have to know it', async () => {
  const kube = new KubeModel();
  const nowMs = Date.now();
  await filesAt(kube, nowMs);
  kube.change(SECRETS, AT, { data: { 'ca.key': '' } });
  await filesAt(kube, nowMs);
  const { notice } = await readManaged({ kube: kube.client, nowMs, signal }, MANAGED, 'clients');
  const day = new Date(nowMs + 83 * DAY_MS).toISOString().slice(0, 10);
  expect(notice).toContain(`From ${day} on another authority signs`);
  expect(notice).toContain('ca.crt of Secret db-tls');
});

const validity = { fromMs: Date.now() - 1_000, toMs: Date.now() + 3_600_000 };
const [authority, other] = [makeAuthority('one', validity), makeAuthority('other', validity)];
const own = issue(authority, { commonName: 'db', hosts: ['*.db-headless.shop.svc'] }, validity);
/** Signed by one that is itself signed. */
const between = issue(authority, { commonName: 'between' }, validity);
const far = issue(between, { commonName: 'db', hosts: ['*.db-headless.shop.svc'] }, validity);
const elsewhere = issue(authority, { commonName: 'db', hosts: ['db.bank.svc'] }, validity);
const past = { fromMs: Date.now() - 2 * DAY_MS, toMs: Date.now() - DAY_MS };
const old = issue(authority, { commonName: 'db', hosts: ['*.db-headless.shop.svc'] }, past);

async function given(data: SecretData): Promise<CertificatesRead> {
  const kube = new KubeModel();
  const encoded = Object.entries(data).map(([key, text]) => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  const metadata = { namespace: 'shop', name: 'mine' };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: Object.fromEntries(encoded) };
  kube.put(SECRETS, secret);
  const deps = { kube: kube.client, nowMs: Date.now(), signal };
  const where = { namespace: 'shop', secretName: 'mine', field: 'spec.tls.peers' };
  return readGiven(deps, { ...where, host: HOSTS.routes });
}

test.each<[string, string, string, string, string | undefined]>([
  ['its own authority', own.certPem, own.keyPem, authority.certPem, undefined],
  ['two authorities', own.certPem, own.keyPem, other.certPem + authority.certPem, undefined],
  ['one between', far.certPem + between.certPem, far.keyPem, authority.certPem, undefined],
  ['itself', own.certPem, own.keyPem, own.certPem, undefined],
  ['one between that lacks', far.certPem, far.keyPem, authority.certPem, 'nobody in its ca.crt'],
  ['another authority', own.certPem, own.keyPem, other.certPem, 'nobody in its ca.crt'],
  ['no certificate', own.certPem, own.keyPem, 'mine', 'nobody in its ca.crt'],
  ['no key', own.certPem, '', authority.certPem, 'has no tls.key'],
  ["another's key", own.certPem, far.keyPem, authority.certPem, 'does not belong'],
  ['another name', elsewhere.certPem, elsewhere.keyPem, authority.certPem, 'is not for db-1'],
  ['an end in the past', old.certPem, old.keyPem, authority.certPem, 'has expired'],
])('a certificate of the user with %s', async (_, crt, key, ca, why) => {
  const { files, lacking } = await given({ 'tls.crt': crt, 'tls.key': key, 'ca.crt': ca });
  expect(files).toEqual(why === undefined ? { certificate: crt, key, ca } : undefined);
  expect(lacking?.reason).toBe(why === undefined ? undefined : 'CertificateUnfit');
  const where = 'Secret shop/mine, which spec.tls.peers names, has ';
  expect(lacking?.message ?? '').toContain(why === undefined ? '' : where);
  expect(lacking?.message ?? '').toContain(why ?? '');
});

test('an authority of an owner with a long name is known again, though its own name is cut', () => {
  const nowMs = Date.now();
  const long = { kind: 'EtcdCluster', namespace: 'n'.repeat(40), name: 'e'.repeat(40) };
  const { signer } = authoritiesAt(long, nowMs, 90);
  expect(isOfOwner(long, signer.certPem)).toBe(true);
  expect(isOfOwner({ ...long, namespace: 'another' }, signer.certPem)).toBe(false);
  expect(isOfOwner({ ...long, kind: 'NatsCluster' }, signer.certPem)).toBe(false);
});

test('nobody’s login has no common name, and one of before is renewed', async () => {
  const kube = new KubeModel();
  const managed: Managed<Listener> = {
    ...MANAGED,
    listeners: MANAGED.listeners.map((one) => ({ ...one, isNameless: true })),
  };
  const before = await filesAt(kube, Date.now());
  const { clients } = await filesAt(kube, Date.now(), { managed });
  expect(commonNameOf(before.clients.certificate)).toBe(HOSTS.clients);
  expect(commonNameOf(clients.certificate)).toBeUndefined();
  expect(clients.ca).toBe(before.clients.ca);
  const both = { host: HOSTS.clients, isMutual: true };
  expect(await handshake(both, before.clients, clients)).toBe('believed');
});
