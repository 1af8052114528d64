// A migration that etcd has to agree with: the proof names what was read there, and neither a stale
// write, nor a foreign etcd, nor encryption lets a version go unproved.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPlane } from '../../../knative/try/local/plane/plane.ts';
import { STORAGE_MIGRATIONS } from '../../../shared/api/storage-migration.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { EtcdRelay } from '../../builders/etcd-relay.ts';
import { putStored } from '../../builders/etcd-values.ts';
import { CURRENT, GROUP, OLD, until, VersionedKind } from '../../builders/versioned-kind.ts';
import { world } from './encrypted-plane.ts';
import { ENCRYPTED } from './keys.ts';

let one: RunningFunction;
let relay: EtcdRelay;
let kinds: Readonly<Record<'calm' | 'restless' | 'hidden' | 'lost', VersionedKind>>;

const BOTH = { verify: ['SecondPass', 'Etcd'] };
const OLD_NAME = 'default/old-00001';

beforeAll(async () => {
  relay = new EtcdRelay(world.plane.part('etcd').url);
  one = await world.startFunction({ ETCD_ENDPOINTS: await relay.start() });
  // At once: each waits for the API server most of its time.
  const [calm, restless, hidden, lost] = await Promise.all([
    world.kind('widgets', 30),
    world.kind('wheels', 3),
    hiddenKind(),
    world.kind('pulleys', 2),
  ]);
  kinds = { calm, restless, hidden, lost };
});

afterAll(async () => {
  await one?.stop();
  await relay?.stop();
});

async function hiddenKind(): Promise<VersionedKind> {
  const kind = new VersionedKind(world.plane, world.kube, ENCRYPTED);
  await kind.define(OLD);
  await kind.createOld(4);
  // That the flip has come nobody can see in etcd.
  await kind.define(CURRENT);
  return kind;
}

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
  const kind = kinds.calm;
  const name = await world.migrate(kind, BOTH);
  await world.tickUntil(one, name, 'Done');
  const { proof, pass, trimmed, etcdDisagreed } = await world.status(name);
  expect(proof).toMatchObject({ oracle: 'SecondPassAndEtcd', objects: 30, etcdValues: 30 });
  expect(BigInt(proof?.etcdRevision ?? '')).toBeGreaterThan(BigInt(proof?.resourceVersion ?? ''));
  expect({ pass, trimmed, etcdDisagreed }).toEqual({ pass: 2, trimmed: ['v1alpha1'] });
  expect(await world.condition(name, 'Proved')).toContain('etcd had 30 values of them');
});

test('no trim over old values that come after the second pass, which are rewritten', async () => {
  const kind = kinds.restless;
  await staleWriter(kind, Infinity);
  const name = await world.migrate(kind, BOTH);
  await world.tickUntil(one, name, 'Blocked');
  const said = await world.condition(name, 'Blocked');
  expect(said).toMatch(/^EtcdDisagrees: .* 1 in \S+\/v1alpha1 \(default\/old-00001\)/);
  const before = await world.kube.get(STORAGE_MIGRATIONS, { name });
  await world.tick(one);
  // A status that moved would wake the function at once, for ever.
  expect(await world.kube.get(STORAGE_MIGRATIONS, { name })).toEqual(before);
  expect((await kind.read()).status.storedVersions).toEqual(['v1alpha1', 'v1']);
  expect(await world.status(name)).not.toHaveProperty('proof');
  // Once more, and then no more: a pass that finds it is enough.
  await staleWriter(kind, 1);
  const body = { spec: { retries: 1 } };
  await world.kube.patch(STORAGE_MIGRATIONS, { name }, { type: 'merge', body });
  await world.tickUntil(one, name, 'Done');
  const proof = { oracle: 'SecondPassAndEtcd', etcdValues: 3 };
  const ended = { etcdDisagreed: 1, rewritten: 2, trimmed: ['v1alpha1'], proof };
  expect(await world.status(name)).toMatchObject(ended);
  expect(await world.stored(kind)).toEqual({ v1: 3 });
});

test('encrypted values hide their version: nothing is trimmed while etcd is asked', async () => {
  const kind = kinds.hidden;
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
  const kind = kinds.lost;
  const name = await world.migrate(kind, BOTH);
  const etcd = world.plane.part('etcd').url;
  const other = await startPlane({ parts: ['etcd'] });
  try {
    const lacks: [Record<string, string>, RegExp][] = [
      [{}, /^EtcdUnknown: /],
      [{ ETCD_ENDPOINTS: 'http://127.0.0.1:9' }, /^EtcdUnavailable: .*127.0.0.1:9/],
      [{ ETCD_ENDPOINTS: etcd, ETCD_PREFIXES: '/no' }, /^EtcdIsAnother: .* no values under \/no\//],
      [{ ETCD_ENDPOINTS: other.part('etcd').url }, /^EtcdIsAnother: .* not as far/],
    ];
    for (const [environment, words] of lacks) {
      const lame = await world.startFunction(environment);
      await until(`${words} to be said`, async () => {
        await world.tick(lame);
        return words.test(await world.condition(name, 'Blocked'));
      });
      await lame.stop();
    }
  } finally {
    await other.stop();
  }
  expect((await kind.read()).status.storedVersions).toEqual(['v1alpha1', 'v1']);
  await world.tickUntil(one, name, 'Done');
});
