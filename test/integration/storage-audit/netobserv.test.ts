// The upgrade that its users could not apply: three versions, each the stored one for a while, and
// a release without the first. It is refused with what makes it safe; that is done, and it applies.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { runAudit } from '../../../functions/storage-audit/command.ts';
import { answer } from '../../../knative/tools/migrate/command.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import type { KubeObject, Manifest } from '../../../shared/kube/objects.ts';
import { refusalOf } from '../../builders/refusal-of.ts';
import { crdManifest } from '../../builders/crd-shape.ts';
import { until } from '../../builders/versioned-kind.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { MigrationWorld } from '../migration/world.ts';

const group = 'flows.example.io';
const plural = 'flowcollectors';
const kind = 'FlowCollector';
const name = `${plural}.${group}`;

let world: MigrationWorld;
let dir: string;

beforeAll(async () => {
  world = new MigrationWorld(sharedPlane());
  dir = await mkdtemp(join(tmpdir(), 'netobserv-test-'));
  vi.stubEnv('KUBECONFIG', world.plane.kubeconfigPath);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await world?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Served in all of these, and stored in one. */
function release(storage: string, ...versions: readonly string[]): Manifest {
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { agent: { type: 'string' } } } },
  };
  const all = versions.map((each) => ({ name: each, schema, storage: each === storage }));
  return crdManifest({ group, plural, kind, scope: 'Cluster', versions: all });
}

const collector = (version: string) => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: { name: 'cluster' },
  spec: { agent: 'ebpf' },
});

async function apply(manifest: Manifest): Promise<void> {
  const found = await world.kube.resourceFor(manifest.apiVersion, manifest.kind);
  if (found === undefined) throw new Error(`there is no ${manifest.kind}`);
  await world.kube.apply(found, manifest, { force: true });
}

async function storedVersions(): Promise<unknown> {
  const { status } = ((await world.kube.get(CRDS, { name })) ?? {}) as Partial<KubeObject>;
  return (status as { readonly storedVersions: unknown }).storedVersions;
}

async function against(manifest: Manifest) {
  const path = join(dir, 'release.yaml');
  await writeFile(path, stringify(manifest));
  const said = { out: '', err: '' };
  const scratch = ['--scratch', world.plane.kubeconfigPath];
  const etcd = ['--etcd', world.plane.part('etcd').url];
  const code = await runAudit(['--against', path, ...etcd, ...scratch], {
    out: (text) => void (said.out += text),
    err: (text) => void (said.err += text),
    isWatched: false,
  });
  return { code, ...said };
}

test('release 1.6 is refused with two commands, and applies after them', async () => {
  const { kube } = world;
  await kube.apply(CRDS, release('v1alpha1', 'v1alpha1'), { force: true });
  const ref = { group, version: 'v1alpha1', resource: plural };
  await until('the first version to be served', async () => {
    return (await kube.resourceFor(`${group}/v1alpha1`, kind)) !== undefined;
  });
  await kube.create(ref, collector('v1alpha1'));
  await kube.apply(CRDS, release('v1beta1', 'v1alpha1', 'v1beta1'), { force: true });
  await kube.apply(CRDS, release('v1beta2', 'v1alpha1', 'v1beta1', 'v1beta2'), { force: true });
  await until('each version to be listed', async () => {
    const listed = await storedVersions();
    return JSON.stringify(listed) === '["v1alpha1","v1beta1","v1beta2"]';
  });

  const release16 = release('v1beta2', 'v1beta1', 'v1beta2');
  const refused = await against(release16);
  expect(refused).toMatchObject({ code: 1, err: '' });
  expect(refused.out).toContain(
    'Data could be lost: the new CRD removes version v1alpha1, which status.storedVersions of ' +
      'the existing CRD lists as stored and in which 1 object is stored, such as cluster.',
  );
  const refusal = await refusalOf(kube.apply(CRDS, release16, { force: true }));
  expect(refusal).toContain('v1alpha1 was previously a storage version');

  const commands = [...refused.out.matchAll(/^ +[$] (.*)$/gm)].map(([, command]) => command);
  const [migrate = '', wait = '', ...more] = commands;
  expect(more).toEqual([]);
  const [, args = ''] = /^npm run -s migrate -- (\S+) [|] kubectl apply -f -$/.exec(migrate) ?? [];
  for (const document of parseAllDocuments(await answer([args]))) await apply(document.toJS());
  expect(wait).toBe(
    `kubectl wait --for=jsonpath='{.status.phase}'=Done storagemigration/${name} --timeout=1h`,
  );
  await world.tickUntil(await world.startFunction(), name, 'Done');

  const agreed = await against(release16);
  expect(agreed).toMatchObject({ code: 0, err: '' });
  expect(agreed.out).toContain('\nThe upgrade may be applied.\n');
  await kube.apply(CRDS, release16, { force: true });
  expect(await storedVersions()).toEqual(['v1beta2']);
  const read = await kube.get({ ...ref, version: 'v1beta2' }, { name: 'cluster' });
  expect(read?.['spec']).toEqual({ agent: 'ebpf' });
}, 90_000);
