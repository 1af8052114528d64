// Publishes what runs where. Wakes on changes of the kinds its feeds show, and on the sweep's tick;
// compares an object, or what happened since the last sweep, with the stream, and writes what the
// stream lacks. Its memory is the stream and the feed's status: two instances at once, lost events
// and a killed process cost time, never a wrong answer that stays.
import { Failure } from '../../shared/errors.ts';
import type { Variable } from '../../shared/function/config.ts';
import { type Context, type IncomingEvent, defineFunction } from '../../shared/function/define.ts';
import type { Metrics } from '../../shared/function/metrics.ts';
import { text, url } from '../../shared/function/parsers.ts';
import type { Retry } from '../../shared/kube/calls.ts';
import { openKube } from '../../shared/kube/client.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { CHANGES, lookOf, objectOf } from './change.ts';
import { Doors } from './doors.ts';
import type { Feed } from './feed.ts';
import { type Outcome, lookAt } from './look.ts';
import type { Session } from './session.ts';
import { FIELD_MANAGER, writeClash, writeFailure } from './status.ts';
import { sweep } from './sweep.ts';

const SWEEP = 'dev.knative.sources.ping';

const KUBECONFIG: Variable<string | undefined> = {
  env: 'KUBECONFIG',
  meaning: 'how to reach the API server; inside a cluster the mounted service account says it',
  parse: text,
  fallback: undefined,
};

export const metadata = defineFunction({
  name: 'metadata',
  purpose: 'Publishes what runs where in the cluster, as deltas on NATS JetStream.',
  wakesOn: [...CHANGES, SWEEP],
  config: {
    kubeconfigPath: KUBECONFIG,
    namespace: {
      env: 'FEED_NAMESPACE',
      meaning: 'the namespace whose MetadataFeeds are served',
      parse: text,
      fallback: 'ballast-system',
    },
    natsUrl: {
      env: 'NATS_URL',
      meaning: 'the NATS of feeds that name none of their own',
      parse: url('nats', 'tls'),
      example: 'nats://localhost:4222',
    },
  },
  open: ({ kubeconfigPath, natsUrl, namespace }, { clock, log, metrics }): Doors =>
    new Doors({
      kube: openKube({
        userAgent: FIELD_MANAGER,
        fieldManager: FIELD_MANAGER,
        log,
        onRetry: retryCounter(metrics),
        ...(kubeconfigPath === undefined ? {} : { kubeconfigPath }),
      }),
      clock,
      namespace,
      natsUrl: natsUrl.href,
    }),
  close: (doors) => doors.close(),
  handle: async (event, context) => {
    if (event.type === SWEEP) await sweepAll(context);
    else await takeChange(event, context);
    return undefined;
  },
  routes: [
    {
      method: 'GET',
      path: '/feeds',
      summary: 'the feeds that are served, and how far each was compared with the API server',
      handle: async (_request, { doors, signal }) => ({
        body: (await doors.sessions(signal)).map(describe),
      }),
    },
  ],
});

function retryCounter(metrics: Metrics): (retry: Retry) => void {
  const help = 'Calls to the API server that were sent again, by what was answered before.';
  const retries = metrics.counter('ballast_kube_retries_total', help, ['verb', 'resource', 'code']);
  return ({ verb, resource, code }) => retries.add(1, { verb, resource, code });
}

async function sweepAll(context: Context<Doors>): Promise<void> {
  const { doors, signal } = context;
  await doors.refresh(signal);
  const nowMs = doors.clock.nowMs();
  // Who waits longest comes first: the time of one tick may not be enough for all.
  const due = (await doors.sessions(signal))
    .filter(({ feed }) => isDue(feed, nowMs))
    .toSorted((a, b) => sweptMs(a.feed) - sweptMs(b.feed));
  await eachOrThrow(doors.failures, [
    ...doors.clashes.map((clash) => () => writeClash(doors, clash, signal)),
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
  // Ticks come each minute: this one, if the next one would be too late.
  return nowMs - sweptMs(feed) > Math.max(SAME_TICK_MS, spec.sweepSeconds * 1_000 - TICK_MS);
}

/** From the feed as it is now: the sweep goes on from its status. */
async function sweepOne(uid: string, { doors, log, signal }: Context<Doors>): Promise<void> {
  const session = await doors.session(uid, signal);
  await session?.sweepOnce(async () => {
    try {
      const swept = await sweep({ doors, session, signal });
      const { beginning, reason, version, outcomes, resources } = swept;
      const listed = resources.filter(({ isListed }) => isListed).map(({ name }) => name);
      const what = { feed: session.feed.name, version, ...beginning, reason, listed, ...outcomes };
      log.info(what, 'swept');
    } catch (error) {
      session.forgetMarker();
      // What failed is told in the status too, if that can be written.
      if (error instanceof Failure && error.code !== 'KUBE_CONFLICT') {
        await writeFailure(doors, session, error, signal).catch(() => undefined);
      }
      throw error;
    }
  });
}

async function takeChange(event: IncomingEvent, context: Context<Doors>): Promise<void> {
  const { doors, signal } = context;
  const object = objectOf(event);
  if (object.kind === 'MetadataFeed') return takeFeedChange(object, context);
  const sessions = await doors.sessions(signal);
  await eachOrThrow(
    doors.failures,
    sessions.map((session) => () => takeInto(session, event, object, context)),
  );
}

async function takeInto(
  session: Session,
  event: IncomingEvent,
  object: KubeObject,
  context: Context<Doors>,
): Promise<void> {
  const { doors, signal, log } = context;
  const look = await lookOf(event, object, session.feed, (apiVersion, kind) =>
    doors.kube.resourceFor(apiVersion, kind, { signal }),
  );
  if (look === undefined) return;
  try {
    // Nothing was published yet, or all of it was lost: the first sweep begins the epoch.
    if ((await session.marker(signal)).marker === undefined) {
      await sweepOne(session.feed.object.metadata.uid, context);
    }
    const { marker } = await session.marker(signal);
    const moment = { epoch: marker?.epoch ?? 0, nowMs: doors.clock.nowMs() };
    const { outcome } = await lookAt(session, look, { ...moment, trust: 'hint' }, signal);
    count(session, outcome, log, object);
  } catch (error) {
    session.forgetMarker();
    throw error;
  }
}

/** Its status changes with every sweep; only a new spec is a reason to act. */
async function takeFeedChange(
  { metadata: { uid, generation = 0 } }: KubeObject,
  context: Context<Doors>,
): Promise<void> {
  const { doors, signal } = context;
  const isSwept = (session: Session | undefined): boolean =>
    session !== undefined && session.feed.status.observedGeneration === generation;
  const sessions = await doors.sessions(signal);
  if (sessions.some((one) => one.feed.object.metadata.uid === uid && isSwept(one))) return;
  // Another instance may have swept it meanwhile.
  if (!isSwept(await doors.session(uid, signal))) await sweepOne(uid, context);
}

function count(
  { counts }: Session,
  outcome: Outcome,
  log: Context<Doors>['log'],
  object: KubeObject,
): void {
  counts.received += 1;
  counts[outcome] += 1;
  if (outcome !== 'oversize') return;
  const { namespace, name } = object.metadata;
  log.warn({ kind: object.kind, namespace, name }, 'too large to be shown in one message');
}

function describe({ feed: { name, status } }: Session): Readonly<Record<string, unknown>> {
  const { epoch, version, sweptAt, resources = [] } = status;
  const objects = resources.reduce((sum, row) => sum + row.objects, 0);
  return { feed: name, epoch, version, sweptAt, objects };
}
