// How an instance ends, in order: it refuses new requests, finishes those that it admitted, closes
// its port and then what it holds. `serve.ts` calls this on SIGTERM, by way of `start.ts`.
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import { instanceEnds } from './admission.ts';
import type { FunctionDefinition } from './define.ts';
import { CLOSE_DEPS_MS, LAST_BYTES_MS, type RuntimeConfig } from './runtime-config.ts';
import type { Runtime } from './runtime.ts';
import type { HttpServer } from './server.ts';

/** Until nobody works, nobody comes and nobody listens. */
export async function drain<Deps>(
  { admission, intake, clock, log }: Runtime<Deps>,
  server: HttpServer,
  { drainGraceMs, drainMinimumMs }: RuntimeConfig,
  ending: AbortController,
): Promise<void> {
  const sinceMs = clock.nowMs();
  log.info({ inFlight: admission.inFlight, graceMs: drainGraceMs }, 'draining');
  const [{ cutShort }] = await Promise.all([
    admission.drain(drainGraceMs),
    admission.quiet(drainMinimumMs, drainGraceMs),
  ]);
  if (cutShort > 0) log.warn({ cutShort }, 'the grace was too short for all requests');
  intake.dismissAll(instanceEnds('This instance ends before the request is there; send it again.'));
  ending.abort();
  await server.close(sinceMs, () => clock.sleep(LAST_BYTES_MS));
}

/** A dependency that fails to close, or hangs, is logged and holds nothing up. */
export async function closeDeps<Config extends object, Deps>(
  definition: FunctionDefinition<Config, Deps>,
  deps: Deps,
  clock: Clock,
  log: Logger,
): Promise<void> {
  const done = new AbortController();
  const limit = clock.sleep(CLOSE_DEPS_MS, done.signal).then(
    () => log.warn({ limitMs: CLOSE_DEPS_MS }, 'dependencies did not close in time'),
    () => undefined,
  );
  try {
    await Promise.race([definition.close?.(deps), limit]);
  } catch (err) {
    log.error({ err }, 'dependencies failed to close');
  } finally {
    done.abort();
  }
}
