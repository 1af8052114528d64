// Applies one step, of whichever kind is taken over, unless the Takeover has changed meanwhile.
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { applied, type StepResult } from '../../shared/stateful/steps.ts';
import { type AnyState, type AnyStep, isOfNats } from './any-state.ts';
import { isAsRead } from './as-read.ts';
import { DEPLOYMENTS } from './find-operators.ts';
import { applyJoinStep, type JoinDeps } from './join/steps.ts';
import { joins } from './join/mode.ts';
import { makeEtcdCluster } from './make-etcd-cluster.ts';
import { applyNatsStep } from './nats/steps.ts';
import { applyStep } from './steps.ts';

export async function applyAnyStep(
  deps: JoinDeps,
  state: AnyState,
  step: AnyStep,
  signal: AbortSignal,
): Promise<StepResult | Reason> {
  // The next look decides on what it is now.
  if (!(await isAsRead(deps.kube, state.takeover, signal))) return { isSlow: false };
  if (step.type === 'scale-operator') return scaleOperator(deps.kube, step, signal);
  if (isOfNats(state)) return applyNatsStep(deps.kube, state, step, signal);
  if (step.type === 'make-etcd-cluster') return makeEtcdCluster(deps.kube, state, signal);
  return joins(state)
    ? applyJoinStep(deps, state, step, signal)
    : applyStep(deps, state, step, signal);
}

async function scaleOperator(
  kube: KubeClient,
  { operator, replicas }: Extract<AnyStep, { type: 'scale-operator' }>,
  signal: AbortSignal,
): Promise<StepResult> {
  const { namespace, name, uid, resourceVersion } = operator;
  const body = { metadata: { uid, resourceVersion }, spec: { replicas } };
  await kube.patch(DEPLOYMENTS, { namespace, name }, { type: 'merge', body }, { signal });
  const which = `Deployment ${namespace}/${name} (uid ${uid})`;
  return applied('OperatorScaled', `Gave ${which} ${replicas} replicas.`);
}
