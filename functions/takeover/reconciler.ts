// Binds the pieces of this function to the shared reconciler, which looks at each Takeover that the
// sweep names.
import { TAKEOVER_LABEL, TAKEOVERS } from '../../shared/api/takeover.ts';
import { reconcilerOf } from '../../shared/stateful/reconcile-once.ts';
import type { AnyState, AnyStep } from './any-state.ts';
import { applyAnyStep } from './apply-step.ts';
import { attemptOf } from './attempts.ts';
import { decide } from './decide.ts';
import type { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { type Takeover, takeoverOf } from './object.ts';
import { observe } from './observe.ts';
import { isAtWork, type Records, recordsOf } from './records.ts';
import { statusUpdateOf } from './status.ts';

export const reconciler = reconcilerOf<Takeover, AnyState, AnyStep, Records, Deps>({
  ref: TAKEOVERS,
  kind: 'Takeover',
  functionName: 'takeover',
  fieldManager: FIELD_MANAGER,
  label: TAKEOVER_LABEL,
  logField: 'takeover',
  unattended: 'The legacy cluster goes on as it did.',
  objectOf: takeoverOf,
  observe,
  decide,
  // While writers wait it is looked every second; a plan, and a trouble, wait for the next sweep.
  isConverged: ({ takeover }, { trouble }) => !isAtWork(takeover) || trouble !== undefined,
  attemptOf,
  recordsIn: (step) => (step.type === 'write-records' ? step.records : undefined),
  applyStep: applyAnyStep,
  statusOf: (_, state, decision, records = recordsOf(state.takeover.status)) =>
    statusUpdateOf(state, decision, records),
  unobserved: { unknown: ['Planned', 'Complete'] },
});
