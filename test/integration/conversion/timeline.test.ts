// Objects of every kind through the steps of the timeline, forward and one back at each, on the
// real API server: storage-migration moves them by itself, and a client of each version works on.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runAudit } from '../../../functions/storage-audit/command.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { countStored } from '../../builders/etcd-values.ts';
import { letNobodyWritePeers, letPeersBeWritten } from '../../builders/peer-writers.ts';
import { until } from '../../builders/versioned-kind.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { WHOLE_KINDS } from '../api/whole.ts';
import { MigrationWorld } from '../migration/world.ts';
import { Client } from './client.ts';
import { ConversionRig, type Step } from './rig.ts';

const START_MS = 120_000;
const STEP_MS = 120_000;
const PLURALS = WHOLE_KINDS.map(({ path }) => path.slice(path.lastIndexOf('/') + 1));
const CRD_NAMES = PLURALS.map((plural) => `${plural}.ballast.dev`);
let rig: ConversionRig;
let world: MigrationWorld;
let migration: RunningFunction;
let clients: readonly Client[] = [];
/** What is read at a path, as it was at first. */
const first = new Map<string, object>();

beforeAll(async () => {
  rig = await ConversionRig.start(sharedPlane());
  await letPeersBeWritten(rig.kube);
  for (const whole of WHOLE_KINDS) {
    for (const [name, spec] of Object.entries(whole.specs)) await fill(whole, name, spec);
  }
  await letNobodyWritePeers(rig.kube);
  world = new MigrationWorld(rig.plane);
  const KUBECONFIG = await rig.kubeconfigOf('storage-migration');
  migration = await world.startFunction({ KUBECONFIG });
  clients = [new Client(rig.kube, 'v1alpha1'), new Client(rig.kube, 'v1beta1')];
  for (const client of clients) await client.start();
}, START_MS);

afterAll(async () => {
  for (const client of clients) await client.stop();
  await world?.stop();
  await rig?.stop();
});

type Whole = (typeof WHOLE_KINDS)[number];

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

async function expectNothingLost(): Promise<void> {
  for (const [path, was] of first) expect(said(await read(path)), path).toEqual(was);
}

const storedVersions = async (name: string): Promise<unknown> =>
  ((await rig.kube.get(CRDS, { name }))?.['status'] as { storedVersions: unknown }).storedVersions;

/** By the function, whom nobody asked but the definitions. */
async function expectMovedTo(version: string): Promise<void> {
  for (const name of CRD_NAMES) {
    await until(
      `${name} to be moved to ${version}`,
      async () => {
        await world.tick(migration);
        return JSON.stringify(await storedVersions(name)) === JSON.stringify([version]);
      },
      STEP_MS,
    );
    expect(await world.condition(name, 'Proved')).not.toBe('');
  }
  for (const plural of PLURALS) {
    expect(Object.keys(await countStored(rig.plane, 'ballast.dev', plural))).toEqual([version]);
  }
}

async function go(step: Step): Promise<void> {
  await rig.applyStep(step);
  await rig.whenConverting();
  await expectNothingLost();
  for (const client of clients) await client.goesOn();
}

const withoutAlpha = [
  { op: 'test', path: '/spec/versions/0/name', value: 'v1alpha1' },
  { op: 'remove', path: '/spec/versions/0' },
] as const;
const removeAlpha = (name: string): Promise<KubeObject> =>
  rig.kube.patch(CRDS, { name }, { type: 'json', body: withoutAlpha }, { dryRun: true });

test(
  'v1beta1 is stored: all is moved, on proof, and so it is on the way back',
  async () => {
    await go('2-stored');
    for (const name of CRD_NAMES) {
      await expect(removeAlpha(name)).rejects.toThrow('must remain in spec.versions until a storage migration');
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

/** As kubectl shows it. */
async function warningAt(path: string): Promise<string> {
  const kubectl = await resolvePart('kubectl');
  const args = ['--kubeconfig', rig.plane.kubeconfigPath, 'get', '--raw', path];
  return (await promisify(execFile)(kubectl, args)).stderr;
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

test(
  'the audit agrees, and the API server would let v1alpha1 go',
  async () => {
    await expectMovedTo('v1beta1');
    for (const client of clients) await client.stop();
    await expectNothingLost();
    const etcd = rig.plane.part('etcd').url;
    for (const name of CRD_NAMES) {
      let out = '';
      const write = (text: string): void => void (out += text);
      const args = ['--etcd', etcd, '--resource', name, '--json'];
      await runAudit(args, { out: write, err: write, isWatched: false });
      const { rows } = JSON.parse(out) as { rows: readonly { readonly apiVersion: string }[] };
      expect(rows.map(({ apiVersion }) => apiVersion)).toEqual(['ballast.dev/v1beta1']);
      await removeAlpha(name);
    }
  },
  STEP_MS,
);
