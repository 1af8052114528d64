// What a feed shows of what makes pods: how many are wanted and there, and which ones are meant.
// Namespaces are here too: like the others they say little.
import type { ReplicasMessage } from '../messages.ts';
import type { Aspect, SourceObject } from './source.ts';
import { conditionIn, fieldsIn, listIn, numberIn, said, textIn, textMapIn } from './values.ts';

/** Deployments, replica sets and stateful sets. */
export function scaledAspect(workload: SourceObject): Aspect {
  const { replicas: desired } = fieldsIn(workload['spec']);
  const { replicas: current, readyReplicas: ready } = fieldsIn(workload['status']);
  return withSelector(workload, replicasOf(desired, current, ready));
}

export function daemonSetAspect(daemonSet: SourceObject): Aspect {
  const status = fieldsIn(daemonSet['status']);
  const { desiredNumberScheduled = 0, currentNumberScheduled, numberReady } = status;
  return withSelector(
    daemonSet,
    replicasOf(desiredNumberScheduled, currentNumberScheduled, numberReady),
  );
}

export function jobAspect(job: SourceObject): Aspect {
  const { completions, parallelism } = fieldsIn(job['spec']);
  const { active, succeeded } = fieldsIn(job['status']);
  return said<Aspect>({
    labels: textMapIn(job.metadata.labels),
    phase: jobPhase(job),
    replicas: replicasOf(completions ?? parallelism, active, succeeded),
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

function withSelector(workload: SourceObject, replicas: ReplicasMessage): Aspect {
  const { matchLabels, matchExpressions } = fieldsIn(fieldsIn(workload['spec'])['selector']);
  // Half of a selector would match the pods of others.
  const isWhole = listIn(matchExpressions).length === 0;
  return said<Aspect>({
    labels: textMapIn(workload.metadata.labels),
    replicas,
    selector: isWhole ? textMapIn(matchLabels) : undefined,
  });
}

/** The API leaves out counts that are zero; here they are said. */
function replicasOf(desired: unknown, current: unknown, ready: unknown): ReplicasMessage {
  return said<ReplicasMessage>({
    desired: numberIn(desired),
    current: numberIn(current) ?? 0,
    ready: numberIn(ready) ?? 0,
  });
}
