// Objects of every kind through the steps of the timeline, forward and one back at each, on the
// real API server: storage-migration moves them by itself, and a client of each version works on.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runAudit } from '../../../functions/storage-audit/command.ts';
import { guard, NATS_GUARD } from '../../../knative/tools/rights/guard.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import type { Step } from '../../../knative/try/local/timeline/step-names.ts';
import { assertNobodyConverts } from '../../../knative/try/local/timeline/take-step.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { isRecord } from '../../../shared/kube/json.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { countStored } from '../../builders/etcd-values.ts';
import { letNobodyWritePeers, letPeersBeWritten } from '../../builders/peer-writers.ts';
import { until } from '../../builders/versioned-kind.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { WHOLE_KINDS } from '../api/whole.ts';
import { MigrationWorld } from '../migration/world.ts';
import { Client } from './client.ts';
import { beta, ConversionRig } from './rig.ts';

type Version = 'v1alpha1' | 'v1beta1';
const VERSIONS = ['v1alpha1', 'v1beta1'] as const;
const NATS_CLUSTERS = 'natsclusters.ballast.dev';
const REPO = fileURLToPath(new URL('../../..', import.meta.url));
const START_MS = 120_000;
/** The conversion looks for its definitions each minute. */
const STEP_MS = 240_000;
const PLURALS = WHOLE_KINDS.map(({ path }) => path.slice(path.lastIndexOf('/') + 1));
const CRD_NAMES = PLURALS.map((plural) => `${plural}.ballast.dev`);
let rig: ConversionRig;
let world: MigrationWorld;
let migration: RunningFunction;
/** By their versions. */
const clients = new Map<Version, Client>();
/** By path, as it was read at first. */
const first = new Map<string, object>();

beforeAll(async () => {
  rig = await ConversionRig.start(sharedPlane());
  await letPeersBeWritten(rig.kube);
  for (const whole of WHOLE_KINDS) {
    for (const [name, spec] of Object.entries(whole.specs)) await fill(whole, name, spec);
    if (whole.kind === 'EtcdCluster') await fill(whole, 'minutes', inMinutes(whole.least.spec));
  }
  await letNobodyWritePeers(rig.kube);
  world = new MigrationWorld(rig.plane);
  const KUBECONFIG = await rig.kubeconfigOf('storage-migration');
  migration = await world.startFunction({ KUBECONFIG });
  await join('v1alpha1');
}, START_MS);

afterAll(async () => {
  for (const version of clients.keys()) await leave(version);
  await world?.stop();
  await rig?.stop();
});

async function join(version: Version): Promise<void> {
  const client = new Client(rig.kube, version);
  clients.set(version, client);
  await client.start();
}

/** Before its version goes. */
async function leave(version: Version): Promise<void> {
  await clients.get(version)?.stop();
  clients.delete(version);
}

type Whole = (typeof WHOLE_KINDS)[number];

/** It comes back as 1h unless the word is kept beside it. */
const inMinutes = (spec: object): object => ({
  ...spec,
  compaction: { mode: 'Periodic', retention: '60m' },
});

async function fill({ kind, path, status }: Whole, name: string, spec: object): Promise<void> {
  const type = { apiVersion: 'ballast.dev/v1alpha1', kind, metadata: { name } };
  await apply(`${path}/${name}`, { ...type, spec });
  // The function would write another status at once.
  if (kind !== 'StorageMigration') await apply(`${path}/${name}/status`, { ...type, status });
  for (const at of [path, path.replace('/v1alpha1/', '/v1beta1/')]) {
    first.set(`${at}/${name}`, said(await read(`${at}/${name}`)));
  }
}

async function apply(path: string, body: object): Promise<void> {
  await rig.kube.raw({
    method: 'PATCH',
    path,
    query: { fieldValidation: 'Strict', fieldManager: 'test', force: true },
    body,
    contentType: 'application/apply-patch+yaml',
    repeat: 'always',
  });
}

async function read(path: string): Promise<KubeObject> {
  const { text } = await rig.kube.raw({ method: 'GET', path, repeat: 'always' });
  return JSON.parse(text) as KubeObject;
}

function said({ apiVersion, kind, metadata, spec, status }: KubeObject): object {
  const { uid, annotations } = metadata;
  const common = { apiVersion, kind, uid, annotations, spec };
  return kind === 'StorageMigration' ? common : { ...common, status };
}

async function expectNothingLost(versions: readonly Version[] = VERSIONS): Promise<void> {
  const isIn = (path: string): boolean => versions.some((one) => path.includes(`/${one}/`));
  const paths = [...first.keys()].filter(isIn);
  const now = await Promise.all(paths.map(async (path) => [path, said(await read(path))] as const));
  expect(Object.fromEntries(now)).toEqual(
    Object.fromEntries(paths.map((path) => [path, first.get(path)])),
  );
}

async function storedVersions(name: string): Promise<unknown> {
  const definition = await rig.kube.get(CRDS, { name });
  const status = definition?.['status'];
  return isRecord(status) ? status['storedVersions'] : undefined;
}

/** By the function, whom nobody asked but the definitions. */
async function expectMovedTo(version: Version): Promise<void> {
  await until(
    `all to be moved to ${version}`,
    async () => {
      await world.tick(migration);
      const stored = await Promise.all(CRD_NAMES.map(storedVersions));
      const proofs = await Promise.all(CRD_NAMES.map((name) => world.condition(name, 'Proved')));
      const isListed = isDeepStrictEqual(
        stored,
        CRD_NAMES.map(() => [version]),
      );
      return isListed && proofs.every((proof) => proof !== '');
    },
    STEP_MS,
  );
  for (const plural of PLURALS) {
    expect(Object.keys(await countStored(rig.plane, 'ballast.dev', plural))).toEqual([version]);
  }
}

const isGuarded = (): Promise<boolean> =>
  rig.kube
    .delete(CRDS, { name: NATS_CLUSTERS }, { precondition: 'none', because }, { dryRun: true })
    .then(
      () => false,
      (error: unknown) => String(error).includes('NatsCluster ballast-system/'),
    );
const because = 'it is not done';

async function go(step: Step, versions?: readonly Version[]): Promise<void> {
  await rig.applyStep(step);
  await rig.whenConverting();
  await expectNothingLost(versions);
  await until('the definition of NatsClusters to be guarded', isGuarded);
  for (const client of clients.values()) await client.goesOn();
}

async function kubectl(...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  const options = { cwd: REPO, env: { ...process.env, KUBECONFIG: rig.plane.kubeconfigPath } };
  return promisify(execFile)(await resolvePart('kubectl'), args, options);
}

/** By server-side apply, as the one who applied the step. */
const applyFormer = () =>
  kubectl('apply', '--server-side', '--field-manager=test', '-k', 'knative/crds');
const NO_CONVERSION = JSON.stringify({
  spec: { conversion: { strategy: 'None', webhook: null } },
});
/** By its path: our own client finds the other version by itself. */
const isServed = (version: Version): Promise<boolean> =>
  read(`/apis/ballast.dev/${version}/metadatafeeds`).then(
    () => true,
    () => false,
  );

test(
  'the step back from the first takes the conversion off, and then the version',
  async () => {
    await expect(applyFormer()).rejects.toThrow('spec.conversion.strategy: Required value');
    await expect(assertNobodyConverts(rig.kube)).rejects.toThrow('.ballast.dev that was kept asks');
    for (const name of CRD_NAMES) {
      await kubectl('patch', 'crd', name, '--type=merge', '-p', NO_CONVERSION);
    }
    await applyFormer();
    for (const definition of await rig.definitions()) {
      expect(definition['spec']).toMatchObject({
        conversion: { strategy: 'None' },
        versions: [{ name: 'v1alpha1' }],
      });
    }
    await assertNobodyConverts(rig.kube);
    await rig.goAway();
    await until('v1beta1 to be away', async () => !(await isServed('v1beta1')));
    await expectNothingLost(['v1alpha1']);
    await clients.get('v1alpha1')?.goesOn();
    // One of them looks in a version that comes with the next step.
    for (const object of guard(NATS_GUARD, 'ballast-system')) {
      await applyObjects(rig.kube, [{ file: 'npm run rights', object }]);
    }
    await rig.applyStep('1-served');
    await rig.comeBack();
    await rig.whenConverting();
    await until('v1beta1 to be there', () => isServed('v1beta1'));
    await join('v1beta1');
    await go('1-served');
  },
  STEP_MS,
);

test(
  'v1beta1 is stored: all is moved, on proof, and so it is on the way back',
  async () => {
    await go('2-stored');
    for (const one of await definitionsWithoutAlpha()) {
      await expect(rig.kube.apply(CRDS, one, { dryRun: true, force: true })).rejects.toThrow(
        'must remain in spec.versions until a storage migration',
      );
    }
    await expectMovedTo('v1beta1');
    await expectNothingLost();
    await go('1-served');
    // The annotation went with the step; its StorageMigrations are there, and see it.
    await expectMovedTo('v1alpha1');
    await expectNothingLost();
    await go('2-stored');
    await expectMovedTo('v1beta1');
  },
  3 * STEP_MS,
);

const definitionsWithoutAlpha = async () =>
  (await rig.rendered('5-removed')).filter(({ kind }) => kind === 'CustomResourceDefinition');

/** As kubectl shows it. */
async function warningAt(path: string): Promise<string> {
  return (await kubectl('get', '--raw', path)).stderr;
}

test(
  'v1alpha1 is deprecated: whoever asks in it is warned, and nobody else',
  async () => {
    const warning = /v1alpha1 is deprecated.*use ballast.dev[/]v1beta1/;
    const [path = ''] = first.keys();
    expect(await warningAt(path)).toBe('');
    await go('3-deprecated');
    await until('a warning', async () => warning.test(await warningAt(path)));
    expect(await warningAt(path.replace('/v1alpha1/', '/v1beta1/'))).toBe('');
    await go('2-stored');
    await until('no warning', async () => (await warningAt(path)) === '');
    await go('3-deprecated');
  },
  STEP_MS,
);

const BETA = ['v1beta1'] as const;

/** The queries of the page, which have to print nothing before v1alpha1 is removed. */
const inTheWay = async (): Promise<string> =>
  [await rig.runAsWritten('kubectl get crd -o custom'), await rig.runAsWritten('PARTS=')].join('');

/** Whether no object says that it was written in v1alpha1: what those queries find last. */
async function isRewritten(): Promise<boolean> {
  const lists = await Promise.all(PLURALS.map((plural) => rig.kube.list(beta(plural))));
  return !lists
    .flatMap(({ items }) => items.flatMap(({ metadata }) => metadata.managedFields ?? []))
    .some(({ apiVersion }) => apiVersion === 'ballast.dev/v1alpha1');
}

/** By the function, whom the definitions tell; until then what was written in it is found. */
async function expectCleaned(): Promise<void> {
  expect(await inTheWay()).toMatch(/MetadataFeed +ballast-system +client-v1alpha1 /);
  await until(
    'nothing to be in the way',
    async () => {
      await world.tick(migration);
      return (await isRewritten()) && (await inTheWay()) === '';
    },
    STEP_MS,
  );
}

test(
  'v1alpha1 is not served: nothing names it in the end, also after a step back',
  async () => {
    for (const way of ['forward', 'again']) {
      await leave('v1alpha1');
      await go('4-unserved', BETA);
      for (const plural of PLURALS) await rig.whenAway(plural);
      await expectCleaned();
      await expectNothingLost(BETA);
      if (way === 'again') continue;
      await rig.applyStep('3-deprecated');
      await until('v1alpha1 to be there', () => isServed('v1alpha1'));
      await join('v1alpha1');
      await go('3-deprecated');
    }
  },
  2 * STEP_MS,
);

const versionsDefined = async (): Promise<readonly object[]> =>
  (await rig.definitions()).map(({ spec }) =>
    (spec as { versions: { name: string }[] }).versions.map(({ name }) => name),
  );

test(
  'v1alpha1 is removed, on proof, and back, and again: whoever applies is not refused',
  async () => {
    await expectMovedTo('v1beta1');
    await go('5-removed', BETA);
    expect(await versionsDefined()).toEqual(CRD_NAMES.map(() => BETA));
    await go('4-unserved', BETA);
    expect(await versionsDefined()).toEqual(CRD_NAMES.map(() => VERSIONS));
    await go('5-removed', BETA);
    await letPeersBeWritten(rig.kube);
    for (const [path, object] of first) {
      if (!path.includes('/v1beta1/')) continue;
      const { apiVersion, kind, spec } = object as KubeObject;
      const metadata = { name: path.slice(path.lastIndexOf('/') + 1) };
      await apply(path, { apiVersion, kind, metadata, spec });
    }
    await letNobodyWritePeers(rig.kube);
    await expectNothingLost(BETA);
  },
  STEP_MS,
);

test(
  'the audit agrees: nothing is stored in v1alpha1, or names it',
  async () => {
    for (const version of clients.keys()) await leave(version);
    const etcd = rig.plane.part('etcd').url;
    for (const name of CRD_NAMES) {
      let out = '';
      const write = (text: string): void => void (out += text);
      const args = ['--etcd', etcd, '--resource', name, '--json'];
      await runAudit(args, { out: write, err: write, isWatched: false });
      const { rows, verdicts, warnings } = JSON.parse(out) as Report;
      expect(rows.map(({ apiVersion }) => apiVersion)).toEqual(['ballast.dev/v1beta1']);
      const [{ versions }] = verdicts;
      expect(versions).toMatchObject([{ apiVersion: 'ballast.dev/v1beta1', standing: 'storage' }]);
      expect(warnings).toEqual([]);
      expect(await storedVersions(name)).toEqual(BETA);
    }
  },
  STEP_MS,
);

interface Report {
  readonly rows: readonly { readonly apiVersion: string }[];
  readonly verdicts: readonly [{ readonly versions: readonly object[] }];
  readonly warnings: readonly string[];
}
