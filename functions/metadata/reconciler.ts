// What the function does with a tick and with a change: all feeds, one after the other, none at the
// mercy of another.
import { Failure } from '../../shared/errors.ts';
import type { Context, IncomingEvent } from '../../shared/function/define.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { confirmEvent } from './confirm-event.ts';
import type { Deps } from './deps.ts';
import { isEpochPassed } from './epoch.ts';
import type { Feed } from './feed.ts';
import type { Observation } from './observation.ts';
import { objectIn, observationIn } from './parse-event.ts';
import type { Outcome, ReconcileResult } from './reconcile-object.ts';
import type { Session } from './session.ts';
import { writeClash, writeFailure } from './status.ts';
import { sweep } from './sweep.ts';

export async function sweepAll(context: Context<Deps>): Promise<void> {
  const { deps, signal } = context;
  await deps.refresh(signal);
  const nowMs = deps.clock.nowMs();
  // Who waits longest comes first: the time of one tick may not be enough for all.
  const due = (await deps.sessions(signal))
    .filter(({ feed }) => isDue(feed, nowMs))
    .toSorted((a, b) => sweptMs(a.feed) - sweptMs(b.feed));
  await eachOrThrow(deps.failures, [
    ...deps.clashes.map((clash) => () => writeClash(deps, clash, signal)),
    ...due.map(
      ({ feed }) =>
        () =>
          sweepOne(feed.object.metadata.uid, context),
    ),
  ]);
}

/** One feed's failure is no other's: all are tried, and then the first failure is told. */
async function eachOrThrow(
  failures: readonly unknown[],
  works: readonly (() => Promise<void>)[],
): Promise<void> {
  const failed = [...failures];
  for (const work of works) {
    try {
      await work();
    } catch (error) {
      failed.push(error);
    }
  }
  if (failed.length > 0) throw failed[0];
}

const sweptMs = ({ status }: Feed): number => Date.parse(status.sweptAt ?? '1970-01-01T00:00:00Z');

const TICK_MS = 60_000;
/** Two instances may be told of the same tick. */
const SAME_TICK_MS = 10_000;

function isDue(feed: Feed, nowMs: number): boolean {
  const { status, spec, object } = feed;
  if (status.observedGeneration !== object.metadata.generation) return true;
  const sinceMs = nowMs - sweptMs(feed);
  // Ticks come each minute: this one, if the next one would be too late. Whoever swept by a clock
  // that was ahead says nothing about when that was.
  const isLong = sinceMs > Math.max(SAME_TICK_MS, spec.sweepSeconds * 1_000 - TICK_MS);
  return isLong || sinceMs < -SAME_TICK_MS;
}

/** From the feed as it is now: the sweep goes on from its status. */
async function sweepOne(uid: string, { deps, log, signal }: Context<Deps>): Promise<void> {
  const session = await deps.session(uid, signal);
  await session?.sweepOnce(async () => {
    try {
      const swept = await sweep({ deps, session, signal });
      const { beginning, reason, version, outcomes, resources } = swept;
      const listed = resources.filter(({ isListed }) => isListed).map(({ name }) => name);
      const what = { feed: session.feed.name, version, ...beginning, reason, listed, ...outcomes };
      log.info(what, 'swept');
    } catch (error) {
      session.forgetMarker();
      // What failed is told in the status too, if that can be written.
      if (error instanceof Failure && error.code !== 'KUBE_CONFLICT' && !isEpochPassed(error)) {
        await writeFailure(deps, session, error, signal).catch(() => undefined);
      }
      throw error;
    }
  });
}

export async function takeChange(event: IncomingEvent, context: Context<Deps>): Promise<void> {
  const { deps, signal } = context;
  const object = objectIn(event);
  if (object.kind === 'MetadataFeed') return takeFeedChange(object, context);
  const sessions = await deps.sessions(signal);
  await eachOrThrow(
    deps.failures,
    sessions.map((session) => () => takeInto(session, event, object, context)),
  );
}

async function takeInto(
  session: Session,
  event: IncomingEvent,
  object: KubeObject,
  context: Context<Deps>,
): Promise<void> {
  const { deps, signal, log } = context;
  const look = await observationIn(event, object, session.feed, (apiVersion, kind) =>
    deps.kube.resourceFor(apiVersion, kind, { signal }),
  );
  if (look === undefined) return;
  try {
    const { outcome } = await takeLook(session, look, context).catch((error: unknown) => {
      if (!isEpochPassed(error)) throw error;
      // Another instance began the next one.
      session.forgetMarker();
      return takeLook(session, look, context);
    });
    count(session, outcome, log, object);
  } catch (error) {
    session.forgetMarker();
    throw error;
  }
}

async function takeLook(
  session: Session,
  look: Observation,
  context: Context<Deps>,
): Promise<ReconcileResult> {
  const { deps, signal } = context;
  // Nothing was published yet, or all of it was lost: the first sweep begins the epoch.
  if ((await session.marker(signal)).marker === undefined) {
    await sweepOne(session.feed.object.metadata.uid, context);
  }
  const { marker } = await session.marker(signal);
  const moment = { epoch: marker?.epoch ?? 0, nowMs: deps.clock.nowMs() };
  return confirmEvent({ ...moment, deps, session, signal }, look);
}

/** Its status changes with every sweep; only a new spec is a reason to act. */
async function takeFeedChange(
  { metadata: { uid, generation = 0 } }: KubeObject,
  context: Context<Deps>,
): Promise<void> {
  const { deps, signal } = context;
  const isSwept = (session: Session | undefined): boolean =>
    session !== undefined && session.feed.status.observedGeneration === generation;
  const sessions = await deps.sessions(signal);
  if (sessions.some((one) => one.feed.object.metadata.uid === uid && isSwept(one))) return;
  // Another instance may have swept it meanwhile.
  if (!isSwept(await deps.session(uid, signal))) await sweepOne(uid, context);
}

function count(
  { counts }: Session,
  outcome: Outcome,
  log: Context<Deps>['log'],
  object: KubeObject,
): void {
  counts.received += 1;
  counts[outcome] += 1;
  if (outcome !== 'oversize') return;
  const { namespace, name } = object.metadata;
  log.warn({ kind: object.kind, namespace, name }, 'too large to be shown in one message');
}
