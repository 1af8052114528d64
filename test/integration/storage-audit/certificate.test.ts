// The API server alone, and the proof of a StorageMigration: it lets a version go as long as
// nothing can have been stored otherwise since, and whatever may have changed that is told.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runAudit } from '../../../functions/storage-audit/command.ts';
import { startPlane } from '../../../knative/local/plane/plane.ts';
import type { Part } from '../../../knative/local/process/part.ts';
import { STORAGE_MIGRATIONS } from '../../../shared/api/storage-migration.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { addSecondServer } from '../../builders/api-servers.ts';
import { CURRENT, OLD, until, type VersionedKind } from '../../builders/versioned-kind.ts';
import { MigrationWorld } from '../migration/world.ts';

const COUNT = 4;

let world: MigrationWorld;
let second: Part;
let one: RunningFunction;

beforeAll(async () => {
  world = new MigrationWorld(await startPlane({ parts: ['etcd', 'kube-apiserver'] }));
  second = await addSecondServer(world.plane, world.kube);
  await world.prepare('anvils', 'bolts', 'clamps', 'drills', 'engines');
  one = await world.startFunction();
});

afterAll(async () => {
  second?.resume();
  await world?.stop();
});

async function command(...args: readonly string[]) {
  let [out, err] = ['', ''];
  const terminal = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
    isWatched: false,
  };
  const code = await runAudit(args, terminal);
  return { code, out, err };
}

const ask = ({ crdName }: VersionedKind, ...more: readonly string[]) =>
  command('--kube', '--kubeconfig', world.plane.kubeconfigPath, '--resource', crdName, ...more);

const askEtcd = ({ crdName }: VersionedKind) =>
  command('--etcd', world.plane.part('etcd').url, '--resource', crdName);

async function proved(plural: string, spec: object = {}): Promise<VersionedKind> {
  const kind = await world.kind(plural, COUNT);
  await world.migrate(kind, spec);
  await world.tickUntil(one, kind.crdName, 'Done');
  return kind;
}

/** The whole sentence; empty when nothing is in doubt. */
async function doubtAbout(kind: VersionedKind): Promise<string> {
  const { code, out } = await ask(kind);
  if (code === 0) return '';
  expect([code, out.includes('may be removed')]).toEqual([2, false]);
  return out.split('\n').find((line) => line.startsWith('- ')) ?? '';
}

const edit = ({ crdName: name }: VersionedKind, storedVersions: readonly string[]) =>
  world.kube.patch(
    CRDS,
    { name, subresource: 'status' },
    { type: 'merge', body: { status: { storedVersions } } },
  );

test('without a migration, and before its proof: 2; with it the version may go: 0', async () => {
  const kind = await world.kind('anvils', COUNT);
  expect(await doubtAbout(kind)).toContain('no StorageMigration is of this kind');
  const name = await world.migrate(kind, { pause: true });
  expect(await doubtAbout(kind)).toContain(`StorageMigration ${name} (Pending) has no proof`);
  const body = { spec: { pause: false } };
  await world.kube.patch(STORAGE_MIGRATIONS, { name }, { type: 'merge', body });
  await world.tickUntil(one, name, 'Done');
  const { code, out } = await ask(kind);
  const { at, resourceVersion } = (await world.status(name)).proof ?? {};
  expect(out).toContain(
    `${name}\n  ${OLD} may be removed, because StorageMigration ${name} proved it at ${at}, ` +
      `resourceVersion ${resourceVersion}: all ${COUNT} objects were stored as ${CURRENT}, ` +
      'and every API server has stored that since.\n',
  );
  expect(out).not.toContain('trim status.storedVersions');
  expect(code).toBe(0);
  expect((await askEtcd(kind)).code).toBe(0);
  const { resources } = JSON.parse((await ask(kind, '--json')).out) as { resources: object[] };
  expect(resources).toEqual([
    expect.objectContaining({
      certificate: { migration: name, at, resourceVersion, objects: COUNT, oracle: 'SecondPass' },
    }),
  ]);
});

test('a list that was left alone: it may go once that is trimmed', async () => {
  const kind = await proved('bolts', { trim: 'Never' });
  const { code, out } = await ask(kind);
  expect([code, out]).toEqual([0, expect.stringContaining('trim status.storedVersions, which')]);
});

test('the stored version went away and came back: the proof does not count', async () => {
  const kind = await proved('clamps');
  await kind.flip(OLD);
  await kind.createMore(OLD, 'late');
  await kind.flip(CURRENT);
  expect(await world.stored(kind)).toEqual({ [CURRENT]: COUNT, [OLD]: 1 });
  // As somebody may do who wants it to look well.
  await edit(kind, [CURRENT]);
  expect(await doubtAbout(kind)).toContain('does not count, because the CRD was changed since');
  expect((await askEtcd(kind)).code).toBe(1);
});

test('the list names a version since: the proof does not count', async () => {
  const kind = await proved('drills');
  await edit(kind, [OLD, CURRENT]);
  expect(await doubtAbout(kind)).toContain(
    `does not count, because status.storedVersions lists ${OLD} since`,
  );
});

test('an API server does not say what it stores, or a CRD came by the same name', async () => {
  const kind = await proved('engines');
  await second.pause();
  expect(await doubtAbout(kind)).toContain(
    'does not count, because the API server at https://127.0.0.2:',
  );
  second.resume();
  expect((await ask(kind)).code).toBe(0);
  const { uid } = (await kind.read()).metadata;
  await world.kube.delete(CRDS, { name: kind.crdName }, { uid });
  await until('the CRD to be gone', async () => {
    return (await world.kube.get(CRDS, { name: kind.crdName })) === null;
  });
  await kind.fill(1);
  expect(await doubtAbout(kind)).toContain(
    'does not count, because the CRD is another one of the same name',
  );
  expect((await askEtcd(kind)).code).toBe(1);
});
