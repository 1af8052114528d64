// Stops the operator before anything is done, and gives it back its replicas on rollback. Pure.
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import type { CommonDecision, CommonStep } from './decision.ts';
import { operatorsIn, type Stage } from './stages.ts';
import type { FoundOperator, Seen } from './state.ts';

type Found = Pick<Seen, 'operators' | 'isOperatorForbidden' | 'nowMs'>;

type Operator = TakeoverWork['operators'][number];

const placeOf = ({ namespace, name }: Pick<Operator, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`;

/** Nobody knows whether one runs that is not there, or that may not be looked at. */
export function unseenOperator(
  { operators, isOperatorForbidden }: Found,
  work: Pick<TakeoverWork, 'operators'>,
): Reason | undefined {
  const seen = new Set(operators.map((one) => placeOf(one)));
  const unseen = work.operators.find((one) => !seen.has(placeOf(one)));
  if (unseen === undefined) return undefined;
  const where = placeOf(unseen);
  if (isOperatorForbidden) {
    const message =
      `The function may no longer look at Deployment ${where}, so nobody knows whether the ` +
      `operator runs. Grant it that again (npm run rights -- takeover, --operator ${where}), ` +
      'with all else that it was granted.';
    return { reason: 'OperatorForbidden', message };
  }
  const message =
    `Deployment ${where} is gone, which ran the operator, and its pods need not be. Make it anew ` +
    'with 0 replicas; or roll this back (spec.rollback: true) while there is a way.';
  return { reason: 'OperatorMissing', message };
}

/** Stopped, and not there any more to be started. */
export const lostOperators = (
  { operators }: Pick<Found, 'operators'>,
  work: Pick<TakeoverWork, 'operators'>,
): readonly string[] =>
  work.operators
    .filter(({ uid, replicas }) => replicas > 0 && !operators.some((one) => one.uid === uid))
    .map((one) => placeOf(one));

const isAtRest = ({ replicas, running, endsAtMs }: FoundOperator, nowMs: number): boolean =>
  replicas === 0 && running === 0 && (endsAtMs === undefined || nowMs > endsAtMs);

export const stoppedOperators = ({ operators, nowMs }: Found): boolean =>
  operators.every((one) => isAtRest(one, nowMs));

export function stopOperators({ operators, nowMs }: Found, work: TakeoverWork): CommonDecision {
  const operator = operators.find((one) => !isAtRest(one, nowMs));
  const { namespace = '', name = '', uid } = operator ?? {};
  const next = `Stop operator ${namespace}/${name}`;
  const isOn = operator !== undefined && operator.replicas > 0;
  if (isOn && !work.operators.some((one) => one.uid === uid)) {
    const message =
      `Deployment ${namespace}/${name} runs an operator, and was not there when the plan was ` +
      'confirmed. Scale it to 0, or roll it back (spec.rollback: true).';
    const trouble = { reason: 'OperatorAppeared', message };
    return waitFor(next, [trouble], trouble);
  }
  if (isOn) {
    return { step: { type: 'scale-operator', operator, replicas: 0 }, next };
  }
  const message = `Pods of Deployment ${namespace}/${name} are still there, or may be still.`;
  return waitFor(next, [{ reason: 'OperatorStopping', message }]);
}

export const operatorStage = (state: Found, work: TakeoverWork): Stage<CommonStep> => ({
  name: 'StopOperator',
  precondition: operatorsIn(work),
  isDone: stoppedOperators(state),
  act: () => stopOperators(state, work),
});

/** The first that does not have the replicas of before. */
export function restartOperators(found: Found, work: TakeoverWork): CommonDecision | undefined {
  const { operators, isOperatorForbidden } = found;
  const unseen = isOperatorForbidden ? unseenOperator(found, work) : undefined;
  if (unseen !== undefined) return waitFor('Start the operator', [unseen], unseen);
  for (const { uid, replicas } of work.operators) {
    const operator = operators.find((one) => one.uid === uid);
    if (operator === undefined || operator.replicas > 0 || replicas === 0) continue;
    const next = `Start operator ${operator.namespace}/${operator.name}`;
    return { step: { type: 'scale-operator', operator, replicas }, next };
  }
  return undefined;
}
