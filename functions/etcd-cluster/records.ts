// Decisions that change only the records in the status. Pure.
import type { Decision } from './decision.ts';
import { type Records, recordsOf, type State } from './state.ts';

/** Adds these to the records, or writes them anew. */
export const remember = (state: State, added: Records, next: string): Decision => ({
  step: { type: 'write-records', records: { ...recordsOf(state), ...added } },
  next,
});

/** Drops these, and adds the others in the same write. */
export function forget(
  state: State,
  dropped: readonly (keyof Records)[],
  next: string,
  added: Records = {},
): Decision {
  const isKept = ([name]: readonly [string, unknown]): boolean =>
    !dropped.some((one) => one === name);
  const kept: Records = Object.fromEntries(Object.entries(recordsOf(state)).filter(isKept));
  return { step: { type: 'write-records', records: { ...kept, ...added } }, next };
}
