// Two real API servers on one etcd, of which one does not hear that the stored version is changed:
// what it would write nobody knows, so nothing is rewritten before it has said so itself. A proof
// lets a version go as long as neither can have stored it since.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runAudit } from '../../../functions/storage-audit/command.ts';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import { STORAGE_MIGRATIONS } from '../../../shared/api/storage-migration.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { SERVERNAME } from '../../../shared/kube/servers.ts';
import { addSecondServer } from '../../builders/api-servers.ts';
import { CURRENT, GROUP, OLD, until, VersionedKind } from '../../builders/versioned-kind.ts';
import { MigrationWorld } from './world.ts';

const COUNT = 6;

let world: MigrationWorld<Plane>;
let second: Part;
let throughSecond: KubeClient;
let one: RunningFunction;

beforeAll(async () => {
  world = new MigrationWorld(await startPlane({ parts: ['etcd', 'kube-apiserver'], links: true }));
  second = await addSecondServer(world.plane, world.kube);
  throughSecond = openKube({
    kubeconfigPath: world.plane.kubeconfigPath,
    server: { url: second.url, servername: SERVERNAME },
    userAgent: 'test',
    fieldManager: 'test',
  });
  await world.install();
  await world.prepare('anvils', 'bolts', 'clamps', 'drills', 'engines', 'files', 'gears', 'helms');
  one = await world.startFunction({ WORK_SECONDS: '1' });
});

afterAll(async () => {
  second?.resume();
  await throughSecond?.close();
  await world?.stop();
  await world?.plane.stop();
});

/** With objects in the old version, and known to both. */
async function oldKind(plural: string): Promise<VersionedKind> {
  const kind = new VersionedKind(world.plane, world.kube, plural);
  await kind.createOld(COUNT);
  await until('the second API server to know the kind', async () => {
    const found = await throughSecond.resourceFor(`${GROUP}/${CURRENT}`, kind.kind);
    return found !== undefined;
  });
  return kind;
}

/** Why nothing is done. */
async function obstacle({ crdName }: VersionedKind): Promise<string> {
  await world.tickUntil(one, crdName, 'Blocked');
  return world.condition(crdName, 'Blocked');
}

const stateOf = async (kind: VersionedKind) => ({
  stored: await world.stored(kind),
  listed: (await kind.read()).status.storedVersions,
});

const UNTOUCHED = { stored: { [OLD]: COUNT }, listed: [OLD, CURRENT] };
const MIGRATED = { stored: { [CURRENT]: COUNT }, listed: [CURRENT] };

test('both announce the new version: the migration ends as with one', async () => {
  const kind = await world.kind('anvils', COUNT);
  const name = await world.migrate(kind);
  await world.tickUntil(one, name, 'Done');
  expect(await stateOf(kind)).toEqual(MIGRATED);
});

test('one stands still: nothing is rewritten until it goes on, then all is proved', async () => {
  const kind = await oldKind('bolts');
  await second.pause();
  await kind.flip();
  const name = await world.migrate(kind);
  expect(await obstacle(kind)).toMatch(
    /^ApiServersDisagree: The API server at https:\/\/127\.0\.0\.2:\d+ cannot be asked what it st/,
  );
  expect(await stateOf(kind)).toEqual(UNTOUCHED);
  second.resume();
  await world.tickUntil(one, name, 'Done');
  expect(await stateOf(kind)).toEqual(MIGRATED);
  expect(await world.condition(name, 'Proved')).toContain(`All ${COUNT} objects`);
});

test('one is cut off from etcd and announces the old version: it is waited for', async () => {
  const kind = await oldKind('clamps');
  world.plane.partition(second.name, 'etcd');
  await kind.flip();
  const name = await world.migrate(kind);
  expect(await obstacle(kind)).toMatch(
    /^ApiServersDisagree: .*127\.0\.0\.2:\d+ does not announce v1 as what it stores[.] Nothing /,
  );
  expect(await stateOf(kind)).toEqual(UNTOUCHED);
  world.plane.heal(second.name, 'etcd');
  await world.tickUntil(one, name, 'Done');
  expect(await stateOf(kind)).toEqual(MIGRATED);
  expect(await world.condition(name, 'Proved')).toContain(`All ${COUNT} objects`);
});

describe('the audit that asks the API server alone, and the proof of a migration', () => {
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
    const kind = await world.kind('drills', COUNT);
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
    const kind = await proved('engines', { trim: 'Never' });
    const { code, out } = await ask(kind);
    expect([code, out]).toEqual([0, expect.stringContaining('trim status.storedVersions, which')]);
  });

  test('the stored version went away and came back: the proof does not count', async () => {
    const kind = await proved('files');
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
    const kind = await proved('gears');
    await edit(kind, [OLD, CURRENT]);
    expect(await doubtAbout(kind)).toContain(
      `does not count, because status.storedVersions lists ${OLD} since`,
    );
  });

  test('an API server does not say what it stores, or a CRD came by the same name', async () => {
    const kind = await proved('helms');
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
});
