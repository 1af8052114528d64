// Answers methods that a path does not take: 405 with those it takes, or 204 to OPTIONS.
import type { ServerResponse } from 'node:http';
import { quoted } from '../cut.ts';
import { Failure } from '../errors.ts';
import { sendProblem } from './problem.ts';

/** Whatever can be read can be asked for without its body too. */
export const READ_METHODS = ['GET', 'HEAD'] as const;

export function refuseMethod(
  response: ServerResponse,
  method: string,
  path: string,
  allowed: readonly string[],
): void {
  const allow = [...allowed, 'OPTIONS'].join(', ');
  if (method === 'OPTIONS') {
    response.writeHead(204, { allow }).end();
    return;
  }
  const message = `${quoted(path)} does not take ${method}; it takes ${allow}.`;
  const failure = new Failure('METHOD_NOT_ALLOWED', message, { field: 'method' });
  sendProblem(response, failure, { allow });
}
