// What the function does with a letter: counts it, writes it down where a person looks, and says so
// in its log.
import { type ErrorCode, Failure } from '../../shared/errors.ts';
import type { Context, IncomingEvent } from '../../shared/function/define.ts';
import type { Manifest } from '../../shared/kube/objects.ts';
import { eventAbout, eventOfMany, eventOnBroker } from './decide.ts';
import type { Deps } from './deps.ts';
import { readLetter } from './letter.ts';
import { tell } from './steps.ts';

const NO_PLACE: ReadonlySet<ErrorCode> = new Set([
  'KUBE_NOT_FOUND',
  'KUBE_FORBIDDEN',
  'KUBE_INVALID',
  'KUBE_NAME_INVALID',
]);

export async function takeLetter(event: IncomingEvent, context: Context<Deps>): Promise<void> {
  const { deps, log } = context;
  const letter = readLetter(event, deps.functions);
  const { functionName, type, status, code, said, subject } = letter;
  deps.count(`${event.source} ${event.id}`, { function: functionName, code: status });
  // The only place that names every object: the Broker's Events are for causes.
  log.warn({ of: functionName, type, subject, status, code, said }, 'dead letter');
  const by = { instance: deps.instance, nowMs: deps.clock.nowMs() };
  const own = eventAbout(letter, by);
  if (own !== undefined && deps.mayName(own.metadata.name)) {
    if (await wrote(own, context)) return;
  }
  const onBroker = eventOnBroker(letter, deps.place, by);
  const isTold = deps.mayTell(onBroker.metadata.name);
  await write(isTold ? onBroker : eventOfMany(deps.place, by), context);
}

/** False where no Event can be: the namespace is gone or going, or the names are made up. */
async function wrote(event: Manifest, context: Context<Deps>): Promise<boolean> {
  try {
    await write(event, context);
    return true;
  } catch (error) {
    if (!(error instanceof Failure) || !NO_PLACE.has(error.code)) throw error;
    context.log.info({ err: error }, 'no Event can be written about this object');
    return false;
  }
}

async function write(event: Manifest, { deps, signal }: Context<Deps>): Promise<void> {
  const { kube, clock } = deps;
  const { name, namespace = '' } = event.metadata;
  await deps.inTurn(`${namespace}/${name}`, (count) =>
    tell(kube, event, { count, nowMs: clock.nowMs() }, signal),
  );
}
