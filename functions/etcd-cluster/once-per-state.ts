// Answers that many planners ask for, each for every peer: found once for a state. Pure.
import type { State } from './state.ts';

export function oncePerState<Answer>(find: (state: State) => Answer): (state: State) => Answer {
  const answers = new WeakMap<State, { readonly answer: Answer }>();
  return (state) => {
    const known = answers.get(state) ?? { answer: find(state) };
    answers.set(state, known);
    return known.answer;
  };
}
