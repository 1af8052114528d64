// Decides the next step. The first planner that has a step, or something to wait for, wins. A
// backup that is over is left alone for good, and a Job is made only where none was ever noted.
// Pure.
import { jobNameOf } from '../../shared/jobs/job-name.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { isEnding } from '../../shared/kube/objects.ts';
import { firstOf, NOTHING, type Planner, waitFor } from '../../shared/stateful/decision.ts';
import type { Decision, Step } from './decision.ts';
import { isOver, locationOf } from './object.ts';
import { lastFailureOf, outcomeOf, storedBy } from './outcome.ts';
import type { State } from './state.ts';

const PLANNERS: readonly Planner<State, Step>[] = [leave, end, refuseTaken, awaitJob, makeJob];

export const decide = (state: State): Decision => firstOf(PLANNERS, state);

function leave({ backup }: State): Decision | undefined {
  return isOver(backup) || isEnding(backup.object) ? NOTHING : undefined;
}

function end(state: State): Decision | undefined {
  const outcome = outcomeOf(state);
  if (outcome === undefined) return undefined;
  return 'failure' in outcome ? { next: 'Nothing', trouble: outcome.failure } : NOTHING;
}

function refuseTaken({ job }: State): Decision | undefined {
  if (job === undefined || job.isOurs) return undefined;
  const message = `Job ${job.name} is there already and is not ours; delete it.`;
  return refuse(`Create Job ${job.name}`, { reason: 'NameTaken', message });
}

const refuse = (next: string, trouble: Reason): Decision => waitFor(next, [trouble], trouble);

function awaitJob(state: State): Decision | undefined {
  const { backup, job, pods } = state;
  if (job === undefined) return undefined;
  const next = `Take the backup in Job ${job.name}`;
  if (job.isEnding) {
    const message = `Job ${job.name} is being deleted.`;
    return waitFor(next, [{ reason: 'JobEnding', message }]);
  }
  const present = pods.filter(({ phase, ended }) => phase !== 'Failed' && ended === undefined);
  const trouble = present.find((pod) => pod.trouble !== undefined)?.trouble ?? job.trouble;
  if (trouble !== undefined) return refuse(next, trouble);
  const failed = lastFailureOf(state);
  const before = failed === undefined ? '' : ` The attempt before failed: ${failed}`;
  const isStored = storedBy(state) !== undefined;
  const what = isStored ? 'rehearses what it stored at' : 'takes it to';
  const message = `Job ${job.name} ${what} ${locationOf(backup)}.${before}`;
  return waitFor(next, [{ reason: 'Running', message }]);
}

function makeJob({ backup, source }: State): Decision | undefined {
  if (source === undefined) return undefined;
  const next = `Create Job ${jobNameOf(backup)}`;
  if ('reason' in source) return refuse(next, source);
  return { step: { type: 'make-job', source }, next };
}
