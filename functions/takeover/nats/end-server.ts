// Has an old server leave: its pod is deleted, or the StatefulSet of a chart is scaled down, and
// Kubernetes ends the pods of the highest numbers. Each sends its clients away first.
import { PODS, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { applied, type StepResult } from '../../../shared/stateful/steps.ts';
import type { Takeover } from '../object.ts';
import type { Changes } from '../try-change.ts';
import type { NatsStep } from './decision.ts';

export type Leaving = Extract<NatsStep, { type: 'delete-server' | 'scale-down' }>;

export async function endServer(
  kube: Changes,
  { namespace, spec: { legacy } }: Takeover,
  step: Leaving,
  signal: AbortSignal,
): Promise<StepResult> {
  if (step.type === 'delete-server') {
    const { name, uid, resourceVersion } = step.server;
    await kube.delete(PODS, { namespace, name }, { uid, resourceVersion }, { signal });
    return applied('ServerLeft', `Deleted pod ${name} (uid ${uid}) of the old servers.`);
  }
  const { name } = legacy;
  const { uid, resourceVersion, replicas } = step;
  const body = { metadata: { uid, resourceVersion }, spec: { replicas } };
  await kube.patch(STATEFUL_SETS, { namespace, name }, { type: 'merge', body }, { signal });
  return applied('ServerLeft', `Gave StatefulSet ${name} (uid ${uid}) ${replicas} replicas.`);
}
