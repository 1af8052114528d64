// Starts a lane's plane before its first file and ends it after its last.
import { appendFile, writeFile } from 'node:fs/promises';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { applyObjects } from '../../knative/try/local/cluster/apply-objects.ts';
import { loadWiring } from '../../knative/try/local/manifests/load.ts';
import { type Plane, startPlane } from '../../knative/try/local/plane/plane.ts';
import { usedTicks } from '../../knative/try/local/process/proc.ts';
import { type KubeClient, openKube } from '../../shared/kube/client.ts';
import { defineKnative } from '../integration/manifests/knative-definitions.ts';
import { TICKS_PER_SECOND } from '../ladder/processor.ts';
import { lanes } from '../lanes.ts';
import { prepareAudit } from './audit.ts';
import { settledState, stateFile } from './etcd-state.ts';

const MANIFESTS = fileURLToPath(new URL('../../knative', import.meta.url));

export async function setup({ name, provide }: TestProject): Promise<() => Promise<void>> {
  const lane = lanes.find((one) => one.name === name);
  if (lane === undefined) throw new Error(`test/lanes.ts has no lane named ${name}`);
  const audit = lane.isAudited ? await prepareAudit() : undefined;
  const plane = await startPlane({ parts: lane.parts, apiServerFlags: audit?.flags ?? [] });
  try {
    if (lane.hasManifests) await withKube(plane, applyManifests);
    if (lane.hasKnative === true) await withKube(plane, defineKnative);
    if (lane.isConverting === true) await convert(plane);
    const state = await settledState(plane.part('etcd').url);
    await writeFile(stateFile(plane.dir), JSON.stringify(state));
  } catch (error) {
    await plane.stop();
    throw error;
  }
  const { dir, kubeconfigPath, caPath } = plane;
  const parts = plane.parts().map(({ name: part, url, urls }) => ({ name: part, url, urls }));
  provide('plane', { dir, kubeconfigPath, caPath, parts });
  if (audit !== undefined) provide('auditLog', audit.logPath);
  return async () => {
    await noteTimes(name, plane);
    await plane.stop();
    await audit?.remove();
  };
}

async function withKube(
  { kubeconfigPath }: Plane,
  work: (kube: KubeClient) => Promise<void>,
): Promise<void> {
  const kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  try {
    await work(kube);
  } finally {
    await kube.close();
  }
}

const applyManifests = async (kube: KubeClient): Promise<void> =>
  applyObjects(kube, (await loadWiring(MANIFESTS)).objects);

/** Loaded where it is wanted: it brings half of the functions along. */
async function convert(plane: Plane): Promise<void> {
  const { ConversionRig } = await import('../integration/conversion/rig.ts');
  await ConversionRig.install(plane);
}

/** As `ladder/note-times.ts` does for files, none of which has the plane's parts as children. */
async function noteTimes(lane: string, plane: Plane): Promise<void> {
  const place = env['BALLAST_TIMES'];
  if (place === undefined) return;
  const ticks = await Promise.all(plane.parts().map(({ pid = 0 }) => usedTicks(pid)));
  const cpuSeconds = ticks.reduce<number>((sum, one = 0) => sum + one, 0) / TICKS_PER_SECOND;
  const noted = { file: `plane of ${lane}`, cpuSeconds, wallSeconds: performance.now() / 1000 };
  await appendFile(place, `${JSON.stringify(noted)}\n`);
}
