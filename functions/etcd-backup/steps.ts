// Applies the one step: makes the Job. One that is there by that name stays as it is, and the next
// look says whose it is.
import { JOBS } from '../../shared/jobs/observe.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { applied, type StepResult } from '../../shared/stateful/steps.ts';
import type { Step } from './decision.ts';
import { locationOf } from './object.ts';
import { jobManifest } from './render/job.ts';
import type { State } from './state.ts';

export async function applyStep(
  { kube, image }: { readonly kube: KubeClient; readonly image: string },
  { backup }: State,
  { source }: Step,
  signal: AbortSignal,
): Promise<StepResult> {
  const manifest = jobManifest(backup, source, image);
  await kube.create(JOBS, manifest, { signal });
  const { name } = manifest.metadata;
  return applied('JobCreated', `Created Job ${name}, which takes it to ${locationOf(backup)}.`);
}
