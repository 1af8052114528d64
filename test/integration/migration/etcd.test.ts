// A migration that etcd has to agree with: the proof names what was read there, and neither a stale
// write, nor a foreign etcd, nor encryption lets a version go unproved.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPlane } from '../../../knative/local/plane/plane.ts';
import { STORAGE_MIGRATIONS } from '../../../shared/api/storage-migration.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { EtcdRelay } from '../../builders/etcd-relay.ts';
import { putStored } from '../../builders/etcd-values.ts';
import { GROUP, until, type VersionedKind } from '../../builders/versioned-kind.ts';
import { MigrationWorld } from './world.ts';

let world: MigrationWorld;
let one: RunningFunction;
let relay: EtcdRelay;
let dir: string;

const ENCRYPTED = 'locks';
const BOTH = { verify: ['SecondPass', 'Etcd'] };
const OLD_NAME = 'default/old-00001';

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-etcd-test-'));
  const configPath = join(dir, 'encryption.json');
  const keys = [{ name: 'key1', secret: Buffer.alloc(32, 7).toString('base64') }];
  const resources = [
    {
      resources: [`${ENCRYPTED}.${GROUP}`],
      providers: [{ secretbox: { keys } }, { identity: {} }],
    },
  ];
  const config = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' };
  await writeFile(configPath, JSON.stringify({ ...config, resources }));
  const apiServerFlags = [`--encryption-provider-config=${configPath}`];
  world = new MigrationWorld(
    await startPlane({ parts: ['etcd', 'kube-apiserver'], apiServerFlags }),
  );
  await world.prepare();
  relay = new EtcdRelay(world.plane.part('etcd').url);
  one = await world.startFunction({ ETCD_ENDPOINTS: await relay.start() });
});

afterAll(async () => {
  await world?.stop();
  await relay?.stop();
  await rm(dir, { recursive: true });
});

/** Puts the object back as it was stored in the old version, past every API server. */
async function staleWriter(kind: VersionedKind, timesMax: number): Promise<void> {
  const old = (await kind.stored()).get('old-00001');
  let times = 0;
  relay.beforeRead = async () => {
    times += 1;
    if (times <= timesMax) await putStored(world.plane, GROUP, kind.plural, OLD_NAME, old);
  };
}

test('where nothing is amiss, the proof says what etcd held, and at which revision', async () => {
  const kind = await world.kind('widgets', 30);
  const name = await world.migrate(kind, BOTH);
  await world.tickUntil(one, name, 'Done');
  const { proof, pass, trimmed, etcdDisagreed } = await world.status(name);
  expect(proof).toMatchObject({ oracle: 'SecondPassAndEtcd', objects: 30, etcdValues: 30 });
  expect(BigInt(proof?.etcdRevision ?? '')).toBeGreaterThan(BigInt(proof?.resourceVersion ?? ''));
  expect({ pass, trimmed, etcdDisagreed }).toEqual({ pass: 2, trimmed: ['v1alpha1'] });
  expect(await world.condition(name, 'Proved')).toContain('etcd had 30 values of them');
});

test('an old value that came after the second pass is seen, and rewritten before the trim', async () => {
  const kind = await world.kind('gears', 5);
  await staleWriter(kind, 1);
  const name = await world.migrate(kind, BOTH);
  await world.tickUntil(one, name, 'Done');
  expect(await world.status(name)).toMatchObject({
    etcdDisagreed: 1,
    pass: 4,
    rewritten: 6,
    proof: { etcdValues: 5 },
    trimmed: ['v1alpha1'],
  });
  expect(await world.stored(kind)).toEqual({ v1: 5 });
});

test('old values that come again and again block it, and the old version stays listed', async () => {
  const kind = await world.kind('wheels', 3);
  await staleWriter(kind, Infinity);
  const name = await world.migrate(kind, BOTH);
  await world.tickUntil(one, name, 'Blocked');
  const said = await world.condition(name, 'Blocked');
  expect(said).toMatch(/^EtcdDisagrees: .* 1 in v1alpha1 \(default\/old-00001\)/);
  const before = await world.kube.get(STORAGE_MIGRATIONS, { name });
  await world.tick(one);
  // A status that moved would wake the function at once, for ever.
  expect(await world.kube.get(STORAGE_MIGRATIONS, { name })).toEqual(before);
  expect((await kind.read()).status.storedVersions).toEqual(['v1alpha1', 'v1']);
  expect(await world.status(name)).not.toHaveProperty('proof');
  await staleWriter(kind, 0);
  await world.kube.patch(
    STORAGE_MIGRATIONS,
    { name },
    { type: 'merge', body: { spec: { retries: 1 } } },
  );
  await world.tickUntil(one, name, 'Done');
});

test('encrypted values hide their version: nothing is trimmed until etcd is not asked', async () => {
  const kind = await world.kind(ENCRYPTED, 4);
  const name = await world.migrate(kind, BOTH);
  await world.tickUntil(one, name, 'Blocked');
  const said = await world.condition(name, 'Blocked');
  expect(said).toMatch(/^EtcdCannotTell: Of 4 values .* in etcd 4 .* such as default\/old-00000/);
  expect((await kind.read()).status.storedVersions).toEqual(['v1alpha1', 'v1']);
  const body = { spec: { verify: ['SecondPass'] } };
  await world.kube.patch(STORAGE_MIGRATIONS, { name }, { type: 'merge', body });
  await world.tickUntil(one, name, 'Done');
  expect((await world.status(name)).proof).toMatchObject({ oracle: 'SecondPass' });
});

test('an etcd that is not there, is not the one, or is not known blocks it', async () => {
  const kind = await world.kind('pulleys', 2);
  const name = await world.migrate(kind, BOTH);
  const etcd = world.plane.part('etcd').url;
  const other = await startPlane({ parts: ['etcd'] });
  try {
    const lacks: [Record<string, string>, string][] = [
      [{}, 'EtcdUnknown: '],
      [{ ETCD_ENDPOINTS: 'http://127.0.0.1:9' }, 'EtcdUnavailable: '],
      [{ ETCD_ENDPOINTS: etcd, ETCD_PREFIXES: '/elsewhere' }, 'EtcdIsAnother: '],
      [{ ETCD_ENDPOINTS: other.part('etcd').url }, 'EtcdIsAnother: '],
    ];
    for (const [environment, reason] of lacks) {
      const lame = await world.startFunction(environment);
      await until(`${reason}to be said`, async () => {
        await world.tick(lame);
        return (await world.condition(name, 'Blocked')).startsWith(reason);
      });
      await lame.stop();
    }
  } finally {
    await other.stop();
  }
  expect((await kind.read()).status.storedVersions).toEqual(['v1alpha1', 'v1']);
  await world.tickUntil(one, name, 'Done');
});
