// The authorities of a cluster whose Secret nats-tls is gone: what servers and clients were told
// before tells them, so that nobody stops believing anybody. The handshakes are real.
import { expect, test } from 'vitest';
import { readCertificate } from '../../../functions/nats-cluster/certificates.ts';
import type { KnownSecrets } from '../../../functions/nats-cluster/lost-authority.ts';
import { render } from '../../../functions/nats-cluster/render/manifests.ts';
import { readSecrets } from '../../../functions/nats-cluster/secrets.ts';
import {
  type CertificateFiles,
  certificatesIn,
  dataOf,
  type SecretData,
} from '../../../shared/stateful/certificates/secret-data.ts';
import { issue, makeAuthority } from '../../../shared/x509.ts';
import { handshake } from '../stateful/handshake.ts';
import { expectNobodyIsCutOff } from '../stateful/lost-authority.ts';
import { KubeModel } from '../stateful/kube-model.ts';
import { cluster, CREDENTIALS } from './samples.ts';

const DAY_MS = 86_400_000;
const OWN = cluster({ spec: { tls: { clients: {}, routes: {} } } });
const HOSTS = { clients: 'nats.shop.svc', routes: 'nats-1.nats-headless.shop.svc' } as const;
type Listener = keyof typeof HOSTS;
type Files = Readonly<Record<Listener, CertificateFiles>>;

interface Known {
  readonly knownSecrets?: KnownSecrets;
}
const NOTHING_TOLD: KnownSecrets = { system: {}, config: null };

/** As a server has them at that time; made or renewed first when that is due. */
async function filesAt(
  kube: KubeModel,
  nowMs: number,
  { knownSecrets = NOTHING_TOLD }: Known = {},
): Promise<Files> {
  const deps = { kube: kube.client, nowMs, signal: new AbortController().signal };
  const one = async (listener: Listener): Promise<CertificateFiles> => {
    const read = await readCertificate(deps, OWN, listener, knownSecrets);
    if (read.files !== undefined) return read.files;
    if (read.toMake === undefined) throw new Error('neither there nor made');
    kube.put(read.toMake.ref, read.toMake.manifest);
    return one(listener);
  };
  return { clients: await one('clients'), routes: await one('routes') };
}

const believes = (listener: Listener, asks: CertificateFiles, server: CertificateFiles) =>
  handshake({ host: HOSTS[listener], isMutual: listener === 'routes' }, asks, server);

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

test('nats-tls gone, servers keep their certificates until clients know the next', async () => {
  const kube = new KubeModel();
  const startedMs = Date.now() - 84 * DAY_MS;
  const first = await filesAt(kube, startedMs);
  kube.remove(SECRETS, AT);
  const knownSecrets = toldOf(first);
  const after = await filesAt(kube, startedMs + DAY_MS, { knownSecrets });
  const late = await filesAt(kube, startedMs + 82 * DAY_MS, { knownSecrets });
  const renewed = await filesAt(kube, Date.now());
  await expectNobodyIsCutOff({ first, after, late, renewed }, believes);
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
  const { toMake } = await readCertificate(deps, OWN, 'clients', knownSecrets);
  expect(toMake?.lost?.reason).toBe(said === undefined ? undefined : 'AuthorityLost');
  expect(toMake?.lost?.message ?? 'undefined').toContain(String(said));
});
