// Stops the operator before anything is done, and gives it back its replicas on rollback. Pure.
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import type { CommonDecision, CommonStep } from './decision.ts';
import { operatorsIn, type Stage } from './stages.ts';
import type { FoundOperator, Seen } from './state.ts';

type Found = Pick<Seen, 'operators'>;

const isAtRest = ({ replicas, running }: FoundOperator): boolean => replicas === 0 && running === 0;

export const stoppedOperators = ({ operators }: Found): boolean =>
  operators.every((one) => isAtRest(one));

export function stopOperators({ operators }: Found, work: TakeoverWork): CommonDecision {
  const operator = operators.find((one) => !isAtRest(one));
  const { namespace = '', name = '', uid } = operator ?? {};
  const next = `Stop operator ${namespace}/${name}`;
  if (!work.operators.some((one) => one.uid === uid)) {
    const message =
      `Deployment ${namespace}/${name} runs an operator, and was not there when the plan was ` +
      'confirmed. Scale it to 0, or roll it back (spec.rollback: true).';
    const trouble = { reason: 'OperatorAppeared', message };
    return waitFor(next, [trouble], trouble);
  }
  if (operator !== undefined && operator.replicas > 0) {
    return { step: { type: 'scale-operator', operator, replicas: 0 }, next };
  }
  const message = `Pods of Deployment ${namespace}/${name} are still there.`;
  return waitFor(next, [{ reason: 'OperatorStopping', message }]);
}

export const operatorStage = (state: Found, work: TakeoverWork): Stage<CommonStep> => ({
  name: 'StopOperator',
  precondition: operatorsIn(work),
  isDone: stoppedOperators(state),
  act: () => stopOperators(state, work),
});

/** The first that does not have the replicas of before. */
export function restartOperators(
  { operators }: Found,
  work: TakeoverWork,
): CommonDecision | undefined {
  for (const { uid, replicas } of work.operators) {
    const operator = operators.find((one) => one.uid === uid);
    if (operator === undefined || operator.replicas > 0 || replicas === 0) continue;
    const next = `Start operator ${operator.namespace}/${operator.name}`;
    return { step: { type: 'scale-operator', operator, replicas }, next };
  }
  return undefined;
}
