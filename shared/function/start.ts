// Puts a function together and runs it: configuration, `deps`, server, and the way down in order.
// Knows nothing of processes, so that tests can run as many as they like side by side.
import type { Logger } from 'pino';
import { type Clock, systemClock } from '../clock.ts';
import { ConfigError, type Environment, readConfig, showConfig } from './config.ts';
import type { FunctionDefinition } from './define.ts';
import { createDispatch } from './dispatch.ts';
import { closeDeps, drain } from './drain.ts';
import { createLog } from './log.ts';
import { Metrics } from './metrics.ts';
import { type RuntimeConfig, runtimeShape } from './runtime-config.ts';
import { type BuildInfo, Runtime } from './runtime.ts';
import { Senders, senderProblems } from './senders/senders.ts';
import type { ReadApiServer } from './senders/issuer.ts';
import { HttpServer } from './server.ts';

export interface StartOptions {
  readonly environment: Environment;
  readonly build: BuildInfo;
  readonly clock?: Clock;
  /** Standard output when absent. */
  readonly log?: Logger;
}

export interface RunningFunction {
  readonly port: number;
  readonly log: Logger;
  /**
   * Readiness down, requests in flight finished or given up, dependencies closed, port free. Asking
   * twice gives the same end.
   */
  stop(): Promise<void>;
}

/** Throws ConfigError when the environment does not hold, and what `open` or listening throws. */
export async function startFunction<Config extends object, Deps>(
  definition: FunctionDefinition<Config, Deps>,
  options: StartOptions,
): Promise<RunningFunction> {
  const { environment, build, clock = systemClock } = options;
  const both = readBoth(environment, definition);
  const { name } = definition;
  const log =
    options.log ??
    createLog({ level: both.runtime.logLevel, function: name, revision: both.runtime.revision });
  const metrics = new Metrics();
  const ending = new AbortController();
  const asksTokens = both.runtime.senderAudience !== undefined;
  const scope = { log, clock, metrics, asksTokens, signal: ending.signal };
  const deps = await definition.open(both.own, scope);
  const runtime = new Runtime({
    definition,
    deps,
    config: both.runtime,
    senders: new Senders(both.runtime, readerOf(definition, deps), clock),
    build,
    clock,
    log,
    metrics,
  });
  const server = new HttpServer(createDispatch(runtime), (failure) =>
    runtime.countFailure(failure),
  );
  const port = await server.listen(both.runtime.port, both.runtime.host);
  await definition.listening?.(deps, port, both.runtime.host);
  const shown = {
    ...showConfig(both.runtime, runtimeShape),
    ...showConfig(both.own, definition.config),
  };
  log.info({ port, ...build, config: shown }, 'listening');
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await drain(runtime, server, both.runtime, ending);
    await closeDeps(definition, deps, clock, log);
    log.info('ended');
  };
  return { port, log, stop: () => (stopping ??= stop()) };
}

function readerOf<Config extends object, Deps>(
  definition: FunctionDefinition<Config, Deps>,
  deps: Deps,
): ReadApiServer | undefined {
  if (definition.readApiServer === undefined) return undefined;
  return async (path, signal) => definition.readApiServer?.(deps, path, signal);
}

/**
 * Both shapes are read before anything is thrown, so that one error names everything that is
 * wrong.
 */
function readBoth<Config extends object, Deps>(
  environment: Environment,
  definition: FunctionDefinition<Config, Deps>,
): { readonly runtime: Readonly<RuntimeConfig>; readonly own: Readonly<Config> } {
  const runtime = readConfig(environment, runtimeShape);
  const own = readConfig(environment, definition.config);
  const problems = [...runtime.problems, ...own.problems];
  const configOf = (): Readonly<RuntimeConfig> =>
    definition.isForSenders === true
      ? { ...runtime.config(), guardsRoutes: true }
      : runtime.config();
  if (runtime.problems.length === 0) {
    const receiver = {
      canReadApiServer: definition.readApiServer !== undefined,
      takesEvents: definition.handle !== undefined,
    };
    problems.push(...senderProblems(configOf(), receiver));
    if (own.problems.length === 0) {
      problems.push(...(definition.conflicts?.(own.config(), configOf()) ?? []));
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { runtime: configOf(), own: own.config() };
}
