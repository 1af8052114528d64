// Starts a lane's plane before its first file and ends it after its last. Setups of their own apply
// what some lanes have there, so that files of the others do not hang on it.
import { appendFile, writeFile } from 'node:fs/promises';
import { env } from 'node:process';
import type { TestProject } from 'vitest/node';
import { type Plane, startPlane } from '../../knative/try/local/plane/plane.ts';
import { usedTicks } from '../../knative/try/local/process/proc.ts';
import { type KubeClient, openKube } from '../../shared/kube/client.ts';
import { defineKnative } from '../integration/manifests/knative-definitions.ts';
import { TICKS_PER_SECOND } from '../ladder/processor.ts';
import { lanes } from '../lanes.ts';
import { prepareAudit } from './audit.ts';
import { settledState, stateFile } from './etcd-state.ts';

/** Resolves with what ends it. `prepare` is what all files find there. */
export async function startLane(
  { name, provide }: TestProject,
  prepare: (plane: Plane) => Promise<void> = async () => undefined,
): Promise<() => Promise<void>> {
  const lane = lanes.find((one) => one.name === name);
  if (lane === undefined) throw new Error(`test/lanes.ts has no lane named ${name}`);
  const audit = lane.isAudited ? await prepareAudit() : undefined;
  const plane = await startPlane({ parts: lane.parts, apiServerFlags: audit?.flags ?? [] });
  try {
    await prepare(plane);
    if (lane.hasKnative === true) await withKube(plane, defineKnative);
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

export async function withKube(
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

/** As `ladder/note-times.ts` does for files, none of which has the plane's parts as children. */
async function noteTimes(lane: string, plane: Plane): Promise<void> {
  const place = env['BALLAST_TIMES'];
  if (place === undefined) return;
  const ticks = await Promise.all(plane.parts().map(({ pid = 0 }) => usedTicks(pid)));
  const cpuSeconds = ticks.reduce<number>((sum, one = 0) => sum + one, 0) / TICKS_PER_SECOND;
  const noted = { file: `plane of ${lane}`, cpuSeconds, wallSeconds: performance.now() / 1000 };
  await appendFile(place, `${JSON.stringify(noted)}\n`);
}
