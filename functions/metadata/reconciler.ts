// The entry of the function: a tick sweeps the feeds that are due, a change is reconciled in each
// feed. Feeds are served one after the other, and the failure of one stops none of the others.
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

export async function sweepDueFeeds(context: Context<Deps>): Promise<void> {
  const { deps, signal } = context;
  await deps.refresh(signal);
  const nowMs = deps.clock.nowMs();
  // The feed that was swept longest ago comes first: one tick may not have the time for all.
  const due = (await deps.sessions(signal))
    .filter(({ feed }) => isDue(feed, nowMs))
    .toSorted((a, b) => sweptMs(a.feed) - sweptMs(b.feed));
  const sweeps = eachOrThrow(deps.failures, [
    ...deps.clashes.map((clash) => () => writeClash(deps, clash, signal)),
    ...due.map(
      ({ feed }) =>
        () =>
          sweepOne(feed.object.metadata.uid, context),
    ),
  ]);
  await sweeps.finally(() => deps.showFeeds());
}

/** Tries all, then throws the first failure. */
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
/** The same tick may reach two instances. */
const SAME_TICK_MS = 10_000;

function isDue(feed: Feed, nowMs: number): boolean {
  const { status, spec, object } = feed;
  if (status.observedGeneration !== object.metadata.generation) return true;
  const sinceMs = nowMs - sweptMs(feed);
  // Ticks come once a minute. This tick sweeps if the next one would be too late.
  // A sweptAt in the future comes from an instance whose clock was ahead, and proves nothing.
  const isLong = sinceMs > Math.max(SAME_TICK_MS, spec.sweepSeconds * 1_000 - TICK_MS);
  return isLong || sinceMs < -SAME_TICK_MS;
}

/** Reads the feed first: the sweep continues from its status. */
async function sweepOne(uid: string, { deps, log, signal }: Context<Deps>): Promise<void> {
  const session = await deps.session(uid, signal);
  await session?.sweepOnce(async () => {
    try {
      const swept = await sweep({ deps, session, signal });
      const { epochStart, reason, version, outcomes, resources } = swept;
      const listed = resources.filter(({ isListed }) => isListed).map(({ name }) => name);
      const fields = {
        feed: session.feed.name,
        version,
        ...epochStart,
        reason,
        listed,
        ...outcomes,
      };
      log.info(fields, 'swept');
    } catch (error) {
      session.forgetMarker();
      // The status tells of the failure, too, if it can be written.
      if (error instanceof Failure && error.code !== 'KUBE_CONFLICT' && !isEpochPassed(error)) {
        await writeFailure(deps, session, error, signal).catch(() => undefined);
      }
      throw error;
    }
  });
}

export async function handleChange(event: IncomingEvent, context: Context<Deps>): Promise<void> {
  const { deps, signal } = context;
  const object = objectIn(event);
  if (object.kind === 'MetadataFeed') return handleFeedChange(object, context);
  const sessions = await deps.sessions(signal);
  await eachOrThrow(
    deps.failures,
    sessions.map((session) => () => reconcileInFeed(session, event, object, context)),
  );
}

async function reconcileInFeed(
  session: Session,
  event: IncomingEvent,
  object: KubeObject,
  context: Context<Deps>,
): Promise<void> {
  const { deps, signal, log } = context;
  const observation = await observationIn(event, object, session.feed, (apiVersion, kind) =>
    deps.kube.resourceFor(apiVersion, kind, { signal }),
  );
  if (observation === undefined) return;
  try {
    const { outcome } = await reconcileFromEvent(session, observation, context).catch(
      (error: unknown) => {
        if (!isEpochPassed(error)) throw error;
        // Another instance began a new epoch: read the marker, and try once more.
        session.forgetMarker();
        return reconcileFromEvent(session, observation, context);
      },
    );
    count(session, outcome, log, object);
  } catch (error) {
    session.forgetMarker();
    throw error;
  }
}

async function reconcileFromEvent(
  session: Session,
  observation: Observation,
  context: Context<Deps>,
): Promise<ReconcileResult> {
  const { deps, signal } = context;
  // Without a marker nothing was published yet, or the stream was lost. A sweep starts the epoch.
  if ((await session.marker(signal)).marker === undefined) {
    await sweepOne(session.feed.object.metadata.uid, context);
  }
  const { marker } = await session.marker(signal);
  const moment = { epoch: marker?.epoch ?? 0, nowMs: deps.clock.nowMs() };
  return confirmEvent({ ...moment, deps, session, signal }, observation);
}

/** Each sweep writes the status of its feed. Only a new spec is a reason to act. */
async function handleFeedChange(
  { metadata: { uid, generation = 0 } }: KubeObject,
  context: Context<Deps>,
): Promise<void> {
  const { deps, signal } = context;
  const isSwept = (session: Session | undefined): boolean =>
    session !== undefined && session.feed.status.observedGeneration === generation;
  const sessions = await deps.sessions(signal);
  if (sessions.some((one) => one.feed.object.metadata.uid === uid && isSwept(one))) return;
  // Another instance may have swept it since `sessions` was read.
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
