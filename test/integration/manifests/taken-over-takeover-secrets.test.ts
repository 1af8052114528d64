// The account of `takeover` in the wrong hands, and Secrets of others: each field of an EtcdBackup,
// an EtcdRestore and an EtcdCluster that can name one is tried, in objects that are right but for
// that. Pods would mount these Secrets, and members show them.
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { ETCD_RESTORES } from '../../../shared/api/etcd-restore.ts';
import type { ResourceRef } from '../../../shared/kube/objects.ts';
import { until } from '../../builders/versioned-kind.ts';
import type { Outcome } from './accounts-at-work.ts';
import { stealTakeover } from './stolen-takeover.ts';

const namespace = 'default';
/** One that was not granted. */
const FOREIGN = 'mail';
const OWN = 'over-takeover-1';
const INTO = 'old-2';
const KINDS = { EtcdBackup: ETCD_BACKUPS, EtcdRestore: ETCD_RESTORES, EtcdCluster: ETCD_CLUSTERS };
type Kind = keyof typeof KINDS;

const { admin, attempt, post } = stealTakeover(
  takeoverRights(namespace, ['given'], undefined, [INTO]),
);

const labels = { 'ballast.dev/takeover': 'over' };
const owner = { apiVersion: 'ballast.dev/v1alpha1', kind: 'Takeover', name: 'over', uid: 'a' };
const METADATA: Readonly<Record<Kind, object>> = {
  EtcdBackup: { name: OWN, labels, ownerReferences: [{ ...owner, controller: true }] },
  EtcdRestore: { name: OWN, labels, ownerReferences: [{ ...owner, controller: true }] },
  EtcdCluster: { name: INTO, labels, annotations: { 'ballast.dev/takeover-uid': 'a' } },
};

const make = (kind: Kind, spec: object, isTried = false): Promise<Outcome> => {
  const metadata = { namespace, ...METADATA[kind] };
  const body = { apiVersion: 'ballast.dev/v1alpha1', kind, metadata, spec };
  const path = `/apis/ballast.dev/v1alpha1/namespaces/${namespace}/${KINDS[kind].resource}`;
  return isTried ? post(path, body) : attempt({ method: 'POST', path, body });
};

const endpoints = ['https://old-a.old.default.svc:2379'];
const target = { claim: { name: OWN } };
const keys = {
  certificate: 'etcd-client.crt',
  key: 'etcd-client.key',
  authority: 'etcd-client-ca.crt',
};
const s3 = { bucket: 'backups', credentials: { secretName: FOREIGN } };
const certificateAuthority = { kind: 'Secret', name: FOREIGN };
const byIdentity = {
  bucket: 'backups',
  credentials: { serviceAccountName: 'ballast-backup' },
  certificateAuthority,
};
const source = { etcdBackup: { name: OWN } };
const login = { username: 'root', passwordSecret: { name: FOREIGN, key: 'password' } };
const roles = [{ name: 'web', permissions: [{ prefix: 'web/', access: 'Read' }] }];
const user = { name: 'web', roles: ['web'], passwordSecret: { name: FOREIGN } };

/** By the field that names it. */
const OF_CLUSTER = {
  'tls.clients.secretName': { tls: { clients: { mode: 'Mutual', secretName: FOREIGN } } },
  'tls.peers.secretName': { tls: { peers: { mode: 'Mutual', secretName: FOREIGN } } },
  'auth.users[].passwordSecret.name': { auth: { users: [user], roles } },
};
const restoring = (spec: object, name = INTO) => ({ source, etcdCluster: { name, spec } });
const ATTACKS: Readonly<Record<Kind, Readonly<Record<string, object>>>> = {
  EtcdCluster: OF_CLUSTER,
  EtcdBackup: {
    'source.tls.secretName': {
      source: { endpoints, tls: { secretName: FOREIGN, keys } },
      target,
    },
    'source.login.passwordSecret.name': { source: { endpoints, login }, target },
    'target.s3.credentials.secretName': { source: { endpoints }, target: { s3 } },
    'target.s3.certificateAuthority.name': { source: { endpoints }, target: { s3: byIdentity } },
    'encryption.secretName': {
      source: { endpoints },
      target,
      encryption: { secretName: FOREIGN },
    },
  },
  EtcdRestore: {
    'source.s3.credentials.secretName': {
      ...restoring({}),
      source: { s3: { ...s3, key: 'a.db' } },
    },
    'source.s3.certificateAuthority.name': {
      ...restoring({}),
      source: { s3: { ...byIdentity, key: 'a.db' } },
    },
    'source.encryption.secretName': {
      ...restoring({}),
      source: { ...source, encryption: { secretName: FOREIGN } },
    },
    ...Object.fromEntries(
      Object.entries(OF_CLUSTER).map(([path, spec]) => [
        `etcdCluster.spec.${path}`,
        restoring(spec),
      ]),
    ),
  },
};

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly string[];
}

/** The fields of a schema that hold the name of a Secret. */
function secretsIn({ properties = {}, items }: Schema, at: string): readonly string[] {
  if (items !== undefined) return secretsIn(items, `${at}[]`);
  const isReference =
    /secret$/i.test(at) || (properties['kind']?.enum?.includes('Secret') ?? false);
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = at === '' ? name : `${at}.${name}`;
    const isName = name === 'secretName' || (isReference && name === 'name');
    return isName ? [path] : secretsIn(schema, path);
  });
}

async function secretFields(kind: Kind): Promise<readonly string[]> {
  const file = kind.replaceAll(/(?!^)([A-Z])/g, '-$1').toLowerCase();
  const url = new URL(`../../../knative/crds/${file}.yaml`, import.meta.url);
  const { spec } = parse(await readFile(url, 'utf8'), { merge: true }) as {
    readonly spec: {
      readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
    };
  };
  const schema = spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec'] ?? {};
  return secretsIn(schema, '');
}

beforeAll(async () => {
  const isRefused = async () => (await make('EtcdCluster', { replicas: 1 }, true)).status === 201;
  await until('rights to hold', isRefused);
  const foreign = ATTACKS.EtcdCluster['tls.clients.secretName'] ?? {};
  await until('the policy to hold', async () => {
    return (await make('EtcdCluster', foreign, true)).status === 422;
  });
});

test('every field that can name a Secret is tried', async () => {
  const ofCluster = await secretFields('EtcdCluster');
  const all: Readonly<Record<Kind, readonly string[]>> = {
    EtcdBackup: await secretFields('EtcdBackup'),
    EtcdRestore: [
      ...(await secretFields('EtcdRestore')),
      // The spec of an EtcdCluster has no schema there.
      ...ofCluster.map((path) => `etcdCluster.spec.${path}`),
    ],
    EtcdCluster: ofCluster,
  };
  for (const kind of Object.keys(KINDS) as Kind[]) {
    const tried = Object.keys(ATTACKS[kind]).toSorted();
    expect([kind, ...tried]).toEqual([kind, ...all[kind].toSorted()]);
  }
});

const isThere = async (ref: ResourceRef, name: string): Promise<boolean> =>
  (await admin().get(ref, { namespace, name })) !== null;

async function expectRefused(kind: Kind, spec: object): Promise<string> {
  const { status, text } = await make(kind, spec);
  expect(text).toContain("ValidatingAdmissionPolicy 'ballast-takeover'");
  expect(status).toBe(422);
  expect(await isThere(KINDS[kind], kind === 'EtcdCluster' ? INTO : OWN)).toBe(false);
  return text;
}

describe.each(Object.keys(KINDS) as Kind[])('%s', (kind) => {
  test.each(Object.entries(ATTACKS[kind]))('a foreign Secret in %s', async (_, spec) => {
    await expectRefused(kind, spec);
  });
});

test.each<[string, string]>([
  ['main', 'another one'],
  ['old-20', 'one that begins like it'],
])('it has no EtcdCluster %s restored: %s than was granted', async (name) => {
  const text = await expectRefused('EtcdRestore', restoring({}, name));
  expect(text).toContain('has restored and deletes EtcdClusters whose names it was granted');
});

/** No schema is in the way of an EtcdRestore. */
test.each<[object]>([
  [{ tls: { clients: [{ secretName: FOREIGN }] } }],
  [{ tls: { clients: { secretName: [FOREIGN] } } }],
  [{ tls: { clients: { secretName: 'given' }, peers: { secretName: FOREIGN } } }],
  [{ auth: { users: { web: user } } }],
  [{ auth: null }],
])('nor one with %j', async (spec) => {
  await expectRefused('EtcdRestore', restoring(spec));
});

test.each<[object]>([
  [restoring({})],
  [{ source, etcdCluster: { name: INTO } }],
  [restoring({ tls: { clients: { mode: 'Mutual', secretName: 'given' } } })],
  [restoring({ tls: { clients: { mode: 'Mutual', secretName: 'given' }, peers: null } })],
  [restoring({ tls: { clients: { secretName: 'given' }, peers: { secretName: 'given' } } })],
])('of the name that it was granted, and with Secrets that it was: %j', async (spec) => {
  expect(await make('EtcdRestore', spec, true)).toMatchObject({ status: 201 });
});
