// The stages of a plan that is carried out: the first one that is not done is next, and is noted
// before anything is done of it. Pure.
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import type { Decision as DecisionOf } from '../../shared/stateful/decision.ts';
import type { CommonStep } from './decision.ts';
import { begun, ended, type Records } from './records.ts';

export interface Stage<Step> {
  readonly name: string;
  readonly precondition: string;
  readonly isDone: boolean;
  readonly act: () => DecisionOf<Step>;
}

export function stageNow<Step>(
  stages: readonly Stage<Step>[],
  records: Records,
  nowMs: number,
): DecisionOf<Step | CommonStep> {
  const stage = stages.find(({ isDone }) => !isDone);
  if (stage === undefined) return endNow(records, nowMs);
  if (isBegun(records, stage.name)) return stage.act();
  const { name, precondition } = stage;
  const next = begun(records, { name, precondition }, nowMs);
  return { step: { type: 'write-records', records: next }, next: `Begin ${name}` };
}

export const endNow = (records: Records, nowMs: number): DecisionOf<CommonStep> => ({
  step: { type: 'write-records', records: ended(records, nowMs) },
  next: 'End it',
});

export const isBegun = ({ steps }: Records, step: string): boolean =>
  steps.some(({ name }) => name === step);

export const operatorsIn = ({ operators }: TakeoverWork): string =>
  operators
    .map(
      ({ namespace, name, uid, replicas }) =>
        `Deployment ${namespace}/${name} has uid ${uid} and ${replicas} replicas.`,
    )
    .join(' ');
