// The projection of workloads: how many pods are wanted, and which ones are selected. Numbers of
// existing or ready pods are left out: every node would receive each of their changes in a rollout,
// and a reader of the whole cluster can count pods. Namespaces are here too, since they have as few
// fields.
import type { Aspect, SourceObject } from './source.ts';
import { conditionIn, fieldsIn, listIn, numberIn, said, textIn, textMapIn } from './values.ts';

/** Deployments, replica sets and stateful sets. */
export function scaledAspect(workload: SourceObject): Aspect {
  return withSelector(workload, fieldsIn(workload['spec'])['replicas']);
}

export function daemonSetAspect(daemonSet: SourceObject): Aspect {
  return withSelector(daemonSet, fieldsIn(daemonSet['status'])['desiredNumberScheduled'] ?? 0);
}

export function jobAspect(job: SourceObject): Aspect {
  const { completions, parallelism } = fieldsIn(job['spec']);
  return said<Aspect>({
    labels: textMapIn(job.metadata.labels),
    phase: jobPhase(job),
    desired: numberIn(completions ?? parallelism),
  });
}

export function cronJobAspect(cronJob: SourceObject): Aspect {
  const isSuspended = fieldsIn(cronJob['spec'])['suspend'] === true;
  return said<Aspect>({
    labels: textMapIn(cronJob.metadata.labels),
    phase: isSuspended ? 'Suspended' : undefined,
  });
}

export function namespaceAspect(namespace: SourceObject): Aspect {
  return said<Aspect>({
    labels: textMapIn(namespace.metadata.labels),
    phase: textIn(fieldsIn(namespace['status'])['phase']),
  });
}

function jobPhase(job: SourceObject): string {
  const status = fieldsIn(job['status']);
  const end = ['Complete', 'Failed'].find((type) => conditionIn(status, type) === true);
  if (end !== undefined) return end;
  return fieldsIn(job['spec'])['suspend'] === true ? 'Suspended' : 'Running';
}

function withSelector(workload: SourceObject, desired: unknown): Aspect {
  const { matchLabels, matchExpressions } = fieldsIn(fieldsIn(workload['spec'])['selector']);
  // Half of a selector would match the pods of others.
  const isWhole = listIn(matchExpressions).length === 0;
  return said<Aspect>({
    labels: textMapIn(workload.metadata.labels),
    desired: numberIn(desired),
    selector: isWhole ? textMapIn(matchLabels) : undefined,
  });
}
