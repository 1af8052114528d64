// The answer to a request that broke outside every handler: logged, counted, and 503, since the
// sender is not at fault.
import type { ServerResponse } from 'node:http';
import { failureFields } from './log.ts';
import { failureOf, sendProblem } from './problem.ts';
import type { Runtime } from './runtime.ts';

export function refuseAsBug<Doors>(
  runtime: Runtime<Doors>,
  response: ServerResponse,
  thrown: unknown,
): void {
  const failure = failureOf(thrown);
  runtime.countFailure(failure);
  runtime.log.error(failureFields(failure), 'bug');
  if (response.headersSent) response.destroy();
  else sendProblem(response, failure);
}
