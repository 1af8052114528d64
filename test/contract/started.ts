// Starts a function inside the test's process, on a free port, with its log kept for looking at.
import type { Clock } from '../../shared/clock.ts';
import { type FunctionDefinition, defineFunction } from '../../shared/function/define.ts';
import { createLog } from '../../shared/function/log.ts';
import { type RunningFunction, startFunction } from '../../shared/function/start.ts';

export interface Started extends RunningFunction {
  readonly url: string;
  /** Every line so far, parsed. */
  readonly lines: readonly Record<string, unknown>[];
}

export type Behaviour<Deps> = Partial<FunctionDefinition<object, Deps>>;

export async function started<Deps>(
  behaviour: Behaviour<Deps>,
  environment: Readonly<Record<string, string>> = {},
  clock?: Clock,
): Promise<Started> {
  const definition = defineFunction<object, Deps>({
    name: 'under-test',
    purpose: 'Stands for any function.',
    wakesOn: ['dev.ballast.test'],
    config: {},
    open: () => undefined as Deps,
    handle: async () => undefined,
    ...behaviour,
  });
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => {
    lines.push(JSON.parse(line) as Record<string, unknown>);
  };
  const log = createLog({ level: 'debug', function: 'under-test', revision: 'r1', to: { write } });
  const build = { version: '1.2.3', commit: 'abc' };
  const running = await startFunction(definition, {
    // No test here waits for a late request, but for the one that says so.
    environment: { PORT: '0', DRAIN_MINIMUM_SECONDS: '0', ...environment },
    build,
    log,
    ...(clock === undefined ? {} : { clock }),
  });
  return { ...running, url: `http://127.0.0.1:${running.port}`, lines };
}

export const eventHeaders: Readonly<Record<string, string>> = {
  'ce-specversion': '1.0',
  'ce-id': '1',
  'ce-source': '/tests',
  'ce-type': 'dev.ballast.test',
  'content-type': 'application/json',
};

export function postEvent(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  body = '{}',
): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { ...eventHeaders, ...headers }, body });
}
