// Certificates that are renewed over the years: servers that were told, and servers that have
// not yet believe each other at every renewal, and so do clients with a copy of `ca.crt` that is
// months old. The handshakes are real, so the last of the renewals is always now.
import { duplexPair } from 'node:stream';
import { connect, createSecureContext, TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { readManaged } from '../../../functions/nats-cluster/certificates.ts';
import type { CertificateFiles } from '../../../functions/nats-cluster/credentials.ts';
import type { KnownSecrets } from '../../../functions/nats-cluster/lost-authority.ts';
import { render } from '../../../functions/nats-cluster/render/manifests.ts';
import {
  certificatesIn,
  dataOf,
  type SecretData,
} from '../../../functions/nats-cluster/secret-data.ts';
import { readSecrets } from '../../../functions/nats-cluster/secrets.ts';
import { issue, makeAuthority } from '../../../shared/x509.ts';
import { KubeModel } from '../stateful/kube-model.ts';
import { cluster, CREDENTIALS } from './samples.ts';

const DAY_MS = 86_400_000;
const RENEWED_EACH_DAYS = 60;
const OWN = cluster({ spec: { tls: { clients: {}, routes: {} } } });
const HOSTS = { clients: 'nats.shop.svc', routes: 'nats-1.nats-headless.shop.svc' } as const;
type Listener = keyof typeof HOSTS;
type Files = Readonly<Record<Listener, CertificateFiles>>;

interface Known {
  readonly knownSecrets?: KnownSecrets;
  readonly kept?: Map<string, SecretData>;
}
const NOTHING_TOLD: KnownSecrets = { system: {}, config: null };

/** As a server has them at that time; made or renewed first when that is due. */
async function filesAt(
  kube: KubeModel,
  nowMs: number,
  { knownSecrets = NOTHING_TOLD, kept = new Map() }: Known = {},
): Promise<Files> {
  const deps = { kube: kube.client, nowMs, signal: new AbortController().signal, kept };
  const one = async (listener: Listener): Promise<CertificateFiles> => {
    const read = await readManaged(deps, OWN, listener, knownSecrets);
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

/** Whether the one who asks believes the server, and on routes the server believes it. */
function believes(listener: Listener, asks: CertificateFiles, server: CertificateFiles) {
  const [near, far] = duplexPair();
  const isMutual = listener === 'routes';
  const own = ({ certificate: cert, key, ca }: CertificateFiles) => ({ cert, key, ca });
  const accepted = new TLSSocket(far, {
    isServer: true,
    secureContext: createSecureContext(own(server)),
    requestCert: isMutual,
    rejectUnauthorized: isMutual,
  });
  const asked = connect({
    socket: near,
    servername: HOSTS[listener],
    ...(isMutual ? own(asks) : { ca: asks.ca }),
  });
  return new Promise<string>((resolve) => {
    for (const one of [accepted, asked]) one.on('error', ({ message }) => resolve(message));
    // Said after the server has looked at the certificate of the one who asks.
    accepted.on('secure', () => accepted.write('welcome'));
    asked.on('data', () => resolve('believed'));
  }).finally(() => {
    accepted.destroy();
    asked.destroy();
  });
}

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

test('whoever asks the servers believes all that they may have, old and new', async () => {
  const kube = new KubeModel();
  const read = async () => {
    const deps = { kube: kube.client, nowMs: Date.now(), signal: new AbortController().signal };
    const { toMake, trustedCa = '' } = await readSecrets(deps, OWN, null);
    if (toMake !== undefined) kube.put(toMake.ref, toMake.manifest);
    return { isDone: toMake === undefined, trusted: certificatesIn(trustedCa) };
  };
  const settled = async (): Promise<readonly string[]> => {
    const { isDone, trusted } = await read();
    return isDone ? trusted : settled();
  };
  const [first = ''] = await settled();
  const validity = { fromMs: Date.now() - DAY_MS, toMs: Date.now() + DAY_MS };
  const next = makeAuthority('next', validity).certPem;
  const at = { namespace: 'shop', name: 'nats-tls' };
  const ca = Buffer.from(`${first}${next}`).toString('base64');
  kube.change({ group: '', version: 'v1', resource: 'secrets' }, at, { data: { 'ca.crt': ca } });
  expect(await settled()).toEqual([first, next]);
});

const SECRETS = { group: '', version: 'v1', resource: 'secrets' };
const AT = { namespace: 'shop', name: 'nats-tls' };

/** The passwords and certificates in the configuration. */
function toldOf(files: Files): KnownSecrets {
  const shape = { size: 3, accessMode: 'ReadWriteOncePod' } as const;
  const [config] = render(OWN, { ...CREDENTIALS, certificates: files }, shape).parts;
  if (config === undefined) throw new Error('there is no configuration');
  return { system: {}, config: new KubeModel().put(config.ref, config.manifest) };
}

async function storedIn(kube: KubeModel): Promise<SecretData> {
  const secret = await kube.get(SECRETS, AT);
  if (secret === null) throw new Error('it is not there');
  return dataOf(secret);
}

test('nats-tls deleted, an instance that remembers it makes it as it was', async () => {
  const [kube, kept] = [new KubeModel(), new Map<string, SecretData>()];
  const nowMs = Date.now();
  await filesAt(kube, nowMs, { kept });
  const before = await storedIn(kube);
  kube.remove(SECRETS, AT);
  await filesAt(kube, nowMs, { kept });
  expect(await storedIn(kube)).toEqual(before);
});

test.each([
  ['is deleted, and nobody remembers it', (kube: KubeModel) => kube.remove(SECRETS, AT)],
  [
    'loses the key of its authority',
    (kube: KubeModel) => void kube.change(SECRETS, AT, { data: { 'ca.key': '' } }),
  ],
])('nats-tls %s: servers keep their certificates until clients know the next', async (_, lose) => {
  const kube = new KubeModel();
  const startedMs = Date.now() - 84 * DAY_MS;
  const first = await filesAt(kube, startedMs);
  lose(kube);
  const knownSecrets = toldOf(first);
  const after = await filesAt(kube, startedMs + DAY_MS, { knownSecrets });
  expect(after.clients.ca).toContain(first.clients.ca);
  expect(certificatesIn(after.clients.ca)).toHaveLength(2);
  const late = await filesAt(kube, startedMs + 82 * DAY_MS, { knownSecrets });
  for (const listener of ['clients', 'routes'] as const) {
    const { certificate, key } = first[listener];
    expect(after[listener]).toMatchObject({ certificate, key });
    expect(late[listener]).toEqual(after[listener]);
  }
  const renewed = await filesAt(kube, Date.now());
  expect(renewed.clients.certificate).not.toBe(first.clients.certificate);
  for (const [one, other] of [
    [first, after],
    [after, renewed],
  ] as const) {
    expect(await believes('routes', one.routes, other.routes)).toBe('believed');
    expect(await believes('routes', other.routes, one.routes)).toBe('believed');
    expect(await believes('clients', one.clients, other.clients)).toBe('believed');
  }
  // A client that never fetched the list with both does not trust the next.
  expect(await believes('clients', first.clients, renewed.clients)).not.toBe('believed');
});

test('what a user brought is never taken for ours', async () => {
  const [host, headless] = [HOSTS.clients, HOSTS.routes];
  const validity = { fromMs: Date.now() - DAY_MS, toMs: Date.now() + 60 * DAY_MS };
  const authority = makeAuthority('Shop', validity);
  const theirs = issue(authority, { commonName: host, hosts: [host, headless] }, validity);
  const files = { certificate: theirs.certPem, key: theirs.keyPem, ca: authority.certPem };
  const kube = new KubeModel();
  const made = await filesAt(kube, Date.now(), {
    knownSecrets: toldOf({ clients: files, routes: files }),
  });
  expect(certificatesIn(made.clients.ca)).toHaveLength(1);
  expect(JSON.stringify(await storedIn(kube))).not.toContain(JSON.stringify(theirs.keyPem));
});

test.each<[string, (first: Files) => KnownSecrets, string | undefined]>([
  ['servers still have its certificates', toldOf, 'Servers keep their certificates'],
  [
    'only who believed it is known',
    ({ clients: { ca } }) => ({ system: { 'trusted-ca.crt': ca }, config: null }),
    'another one signs at once',
  ],
  ['servers never had any', () => NOTHING_TOLD, undefined],
])('nats-tls is not there and %s: clients are told %#', async (_, tell, said) => {
  const knownSecrets = tell(await filesAt(new KubeModel(), Date.now()));
  const deps = {
    kube: new KubeModel().client,
    nowMs: Date.now(),
    signal: new AbortController().signal,
  };
  const { toMake } = await readManaged(deps, OWN, 'clients', knownSecrets);
  expect(toMake?.lost?.reason).toBe(said === undefined ? undefined : 'AuthorityLost');
  expect(toMake?.lost?.message ?? 'undefined').toContain(String(said));
});

test('until the next authority signs, it is said since when clients have to know it', async () => {
  const kube = new KubeModel();
  const nowMs = Date.now();
  const knownSecrets = toldOf(await filesAt(kube, nowMs));
  kube.remove(SECRETS, AT);
  await filesAt(kube, nowMs, { knownSecrets });
  const deps = { kube: kube.client, nowMs, signal: new AbortController().signal };
  const { notice } = await readManaged(deps, OWN, 'clients', NOTHING_TOLD);
  const day = new Date(nowMs + 83 * DAY_MS).toISOString().slice(0, 10);
  expect(notice).toContain(`From ${day} on another authority signs`);
});
