// Files of a rung run beside each other; what only one of them may do at a time is done in turn.
import { withLock } from '../../../knative/try/local/parts/lock.ts';

/** Longer than whoever else has it may take. */
export const TURN_WITHIN_MS = 600_000;

/** Resolves, when it is its turn, with what ends it. */
export function takeTurn(name: string): Promise<() => Promise<void>> {
  return new Promise((begun, failed) => {
    const turn: Promise<void> = withLock(
      `ballast-test-${name}`,
      { onWait: () => undefined },
      () => {
        return new Promise((end) => {
          begun(() => {
            end();
            return turn;
          });
        });
      },
    );
    turn.catch(failed);
  });
}
