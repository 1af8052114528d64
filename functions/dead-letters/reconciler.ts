// Handles a dead letter: counts it, logs it, and writes Events where people look: one on the object
// that it was about, for its owner, and one on the broker, for whoever keeps Ballast.
import { type ErrorCode, Failure } from '../../shared/errors.ts';
import type { Context, IncomingEvent } from '../../shared/function/define.ts';
import type { Manifest } from '../../shared/kube/objects.ts';
import { eventAbout, eventOfMany, eventOnBroker } from './decide.ts';
import type { Deps } from './deps.ts';
import { readLetter } from './letter.ts';
import { writeEvent } from './steps.ts';

const NO_PLACE: ReadonlySet<ErrorCode> = new Set([
  'KUBE_NOT_FOUND',
  'KUBE_FORBIDDEN',
  'KUBE_INVALID',
  'KUBE_NAME_INVALID',
]);

export async function recordLetter(event: IncomingEvent, context: Context<Deps>): Promise<void> {
  const { deps, log } = context;
  const letter = readLetter(event, deps.functions);
  const { functionName, type, status, code, answer, subject } = letter;
  deps.count(`${event.source} ${event.id}`, { function: functionName, code: status });
  // The log is the only place that names every object; Events on the broker are for causes.
  log.warn({ of: functionName, type, subject, status, code, said: answer }, 'dead letter');
  const reporter = { instance: deps.instance, nowMs: deps.clock.nowMs() };
  const own = eventAbout(letter, reporter);
  if (own !== undefined && deps.mayWriteOnObject(own.metadata.name)) {
    await writeOnObject(own, context);
  }
  const onBroker = eventOnBroker(letter, deps.place, reporter);
  const isAllowed = deps.mayWriteOnBroker(onBroker.metadata.name);
  await write(isAllowed ? onBroker : eventOfMany(deps.place, reporter), context);
}

/** Where the namespace is gone or terminating, or the names are made up, nothing can be written. */
async function writeOnObject(event: Manifest, context: Context<Deps>): Promise<void> {
  try {
    await write(event, context);
  } catch (error) {
    if (!(error instanceof Failure) || !NO_PLACE.has(error.code)) throw error;
    context.log.info({ err: error }, 'no Event can be written about this object');
  }
}

async function write(event: Manifest, { deps, signal }: Context<Deps>): Promise<void> {
  const { kube, clock } = deps;
  const { name, namespace = '' } = event.metadata;
  await deps.writeInBatch(`${namespace}/${name}`, (count) =>
    writeEvent(kube, event, { count, nowMs: clock.nowMs() }, signal),
  );
}
