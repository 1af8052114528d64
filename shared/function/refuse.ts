// Answers to requests that no handler saw: those that were refused before, and those that broke on
// the way, for which the sender is not at fault.
import type { ServerResponse } from 'node:http';
import { failureFields } from './log.ts';
import { failureOf, sendProblem } from './problem.ts';
import type { Runtime } from './runtime.ts';

export function refuseAsBug<Deps>(
  runtime: Runtime<Deps>,
  response: ServerResponse,
  thrown: unknown,
): void {
  const failure = failureOf(thrown);
  runtime.countFailure(failure);
  runtime.log.error(failureFields(failure), 'bug');
  if (response.headersSent) response.destroy();
  else sendProblem(response, failure);
}

/** Before there is any work to count it with. */
export function refuseRequest<Deps>(
  runtime: Runtime<Deps>,
  response: ServerResponse,
  thrown: unknown,
): void {
  const failure = failureOf(thrown);
  if (failure.kind === 'bug' || response.headersSent) {
    refuseAsBug(runtime, response, failure);
    return;
  }
  runtime.countFailure(failure);
  runtime.log.warn(failureFields(failure), 'refused');
  sendProblem(response, failure);
}
