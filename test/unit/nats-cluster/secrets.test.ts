// Secrets that have the names of ours: those of others are neither used nor written over.
import { expect, test } from 'vitest';
import { render } from '../../../functions/nats-cluster/render/manifests.ts';
import { readSecrets } from '../../../functions/nats-cluster/secrets.ts';
import { issue, makeAuthority } from '../../../shared/x509.ts';
import { KubeModel } from '../stateful/kube-model.ts';
import { cluster } from './samples.ts';

const SECRETS = { group: '', version: 'v1', resource: 'secrets' };
const NO_SIGNAL = { signal: new AbortController().signal };
const OWN = cluster({ spec: { tls: { clients: {} } } });

async function read(kube: KubeModel, of = OWN) {
  const deps = { kube: kube.client, nowMs: Date.now(), ...NO_SIGNAL };
  const at = { namespace: of.namespace, name: `${of.name}-config` };
  return readSecrets(deps, of, await kube.client.get(SECRETS, at, deps));
}

/** All that we make is there. */
async function made(of = OWN, kube = new KubeModel()): Promise<KubeModel> {
  for (;;) {
    const { toMake } = await read(kube, of);
    if (toMake === undefined) return kube;
    kube.put(toMake.ref, toMake.manifest);
  }
}

interface SecretManifest {
  readonly data?: Readonly<Record<string, string>>;
}

const at = (suffix: string) => ({ namespace: 'shop', name: `nats${suffix}` });

test.each(['-system', '-user', '-tls'])(
  'Secret nats%s of a NatsCluster that is gone is not used: it goes too',
  async (suffix) => {
    const kube = await made();
    const ownerReferences = [{ kind: 'NatsCluster', name: 'nats', uid: 'former' }];
    kube.change(SECRETS, at(suffix), { metadata: { ownerReferences } });
    const { lacking, toMake, credentials } = await read(kube);
    expect(lacking?.reason).toBe('NameTaken');
    expect(lacking?.message).toContain(`Secret nats${suffix} is there already`);
    expect([toMake, credentials]).toEqual([undefined, undefined]);
  },
);

test('passwords of a cluster that is gone are not those of the next one', async () => {
  const kube = await made();
  const { credentials } = await read(kube);
  if (credentials === undefined) throw new Error('it has no credentials');
  const shape = { size: 3, accessMode: 'ReadWriteOncePod' } as const;
  const [config] = render(OWN, credentials, shape).parts;
  kube.put(SECRETS, config?.manifest as never);
  kube.remove(SECRETS, at('-system'));
  const passwordMade = async (): Promise<string> => {
    const { data } = ((await read(kube)).toMake?.manifest ?? {}) as SecretManifest;
    return Buffer.from(data?.['password'] ?? '', 'base64').toString();
  };
  expect(await passwordMade()).toBe(credentials.systemPassword);
  const ownerReferences = [{ kind: 'NatsCluster', name: 'nats', uid: 'former' }];
  kube.change(SECRETS, at('-config'), { metadata: { ownerReferences } });
  expect(await passwordMade()).not.toBe(credentials.systemPassword);
});

test("a user's own Secret nats-tls is not written over", async () => {
  const kube = await made();
  kube.remove(SECRETS, at('-tls'));
  const data = { 'tls.crt': 'bWluZQ==', 'tls.key': 'bWluZQ==', 'ca.crt': 'bWluZQ==' };
  kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata: at('-tls'), data });
  const { lacking, toMake } = await read(kube);
  expect([lacking?.reason, toMake]).toEqual(['NameTaken', undefined]);
});

test.each([{ password: '' }, {}])(
  'a default user without a password (%j) is told, and not let in without one',
  async (data) => {
    const kube = await made();
    kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata: at('-user'), data });
    const { lacking, credentials } = await read(kube);
    expect([lacking?.reason, credentials]).toEqual(['PasswordMissing', undefined]);
  },
);

test.each<[string, (kube: KubeModel) => void]>([
  ['-tls', (kube) => kube.change(SECRETS, at('-tls'), { data: { 'clients.crt': 'b2xk' } })],
  ['-system', (kube) => kube.change(SECRETS, at('-system'), { data: { 'trusted-ca.crt': '' } })],
])('Secret nats%s is not renewed over what somebody wrote meanwhile', async (suffix, age) => {
  const kube = await made();
  age(kube);
  const { toMake } = await read(kube);
  if (toMake === undefined) throw new Error('nothing is to be renewed');
  expect([toMake.why, toMake.manifest.metadata.name]).toEqual(['Renew', `nats${suffix}`]);
  kube.change(SECRETS, at(suffix), { data: { theirs: 'bmV3' } });
  const applying = kube.apply(toMake.ref, toMake.manifest, {});
  await expect(applying).rejects.toMatchObject({ code: 'KUBE_CONFLICT' });
  const again = (await read(kube)).toMake;
  await kube.apply(SECRETS, again?.manifest as never, {});
});

test.each([
  ['on', OWN, 'tls'],
  ['off', cluster(), 'nats'],
])(
  'the url of the user has the scheme of the servers after TLS is turned %s',
  async (_, of, scheme) => {
    const kube = await made(of === OWN ? cluster() : OWN);
    const [before, after] = [await userOf(kube), await userOf(await made(of, kube))];
    expect(before['url']).not.toMatch(new RegExp(`^${scheme}:`));
    const { username, password } = before;
    const url = `${scheme}://default:${password}@nats.shop.svc:4222`;
    const { 'ca.crt': ca } = await dataOf(kube, '-tls');
    const believed = scheme === 'tls' ? { 'ca.crt': ca } : {};
    expect(after).toEqual({ username, password, url, ...believed });
  },
);

test('the Secret of a user has the next authority as soon as the servers do', async () => {
  const kube = await made();
  const before = await userOf(kube);
  kube.change(SECRETS, at('-tls'), { data: { 'clients.crt': 'b2xk', 'ca.crt': 'b2xk' } });
  const after = await userOf(await made(OWN, kube));
  expect(after['ca.crt']).toBe((await dataOf(kube, '-tls'))['ca.crt']);
  expect(after['ca.crt']).not.toBe(before['ca.crt']);
  expect(after).toEqual({ ...before, 'ca.crt': after['ca.crt'] });
});

const userOf = (kube: KubeModel) => dataOf(kube, '-user');

async function dataOf(kube: KubeModel, suffix: string): Promise<Readonly<Record<string, string>>> {
  const secret = await kube.client.get(SECRETS, at(suffix), NO_SIGNAL);
  const data = Object.entries((secret?.['data'] ?? {}) as Record<string, string>);
  return Object.fromEntries(
    data.map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]),
  );
}

const validity = { fromMs: Date.now() - 1_000, toMs: Date.now() + 3_600_000 };
const [authority, other] = [makeAuthority('one', validity), makeAuthority('other', validity)];
const host = 'nats-0.nats-headless.shop.svc';
const own = issue(authority, { commonName: host, hosts: ['*.nats-headless.shop.svc'] }, validity);

test.each<[string, string, boolean]>([
  ['its own authority', authority.certPem, true],
  ['another authority', other.certPem, false],
])('a certificate for routes with %s in its Secret', async (_, ca, isFit) => {
  const kube = await made();
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const data = {
    'tls.crt': base64(own.certPem),
    'tls.key': base64(own.keyPem),
    'ca.crt': base64(ca),
  };
  const metadata = { namespace: 'shop', name: 'mine' };
  kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, data });
  const tls = { routes: { secretName: 'mine' } };
  const { credentials, lacking } = await read(kube, cluster({ spec: { tls } }));
  expect(credentials !== undefined).toBe(isFit);
  expect(lacking?.reason).toBe(isFit ? undefined : 'CertificateUnfit');
  const told = 'Secret shop/mine, which spec.tls.routes names, has a certificate';
  expect(lacking?.message ?? '').toContain(isFit ? '' : told);
});
