// Binds the pieces of this function to the shared reconciler, which looks at each Takeover that the
// sweep names.
import { TAKEOVER_LABEL, TAKEOVERS } from '../../shared/api/takeover.ts';
import { reconcilerOf } from '../../shared/stateful/reconcile-once.ts';
import { decide, type Step } from './decide.ts';
import type { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { type Takeover, takeoverOf } from './object.ts';
import { observe } from './observe.ts';
import type { State } from './state.ts';
import { statusUpdateOf } from './status.ts';

export const reconciler = reconcilerOf<Takeover, State, Step, never, Deps>({
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
  // The next sweep looks again.
  isConverged: () => true,
  attemptOf: (step) => step,
  recordsIn: () => undefined,
  applyStep: (_, __, step) => Promise.resolve(step),
  statusOf: (_, state) => statusUpdateOf(state, decide(state)),
  unobserved: { unknown: ['Planned'] },
});
