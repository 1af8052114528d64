// Publishes what runs where. Wakes on changes of pods and nodes and on the sweep's tick; looks at
// the object, or at all of them; writes to the stream what it lacks. Its state is the stream
// itself: two instances at once, lost events and a killed process cost time, never a wrong answer
// that stays.
import { Failure } from '../../shared/errors.ts';
import type { Variable } from '../../shared/function/config.ts';
import { type IncomingEvent, defineFunction } from '../../shared/function/define.ts';
import type { Metrics } from '../../shared/function/metrics.ts';
import { integer, oneOf, secondsAsMs, text, url } from '../../shared/function/parsers.ts';
import type { Retry } from '../../shared/kube/calls.ts';
import { openKube } from '../../shared/kube/client.ts';
import { Stream } from '../../shared/nats/stream.ts';
import { decide } from './decide.ts';
import { type Doors, observeAll, observeOne } from './observe.ts';
import { KINDS, isKind } from './projection.ts';
import { type Outcome, isConflict, takeAllSteps, takeSteps } from './steps.ts';
import type { ObjectKey } from './subjects.ts';

/** Three events of one object at once are common (created, bound, started), more are not. */
const LOOKS_MAX = 4;
const SWEEP = 'dev.knative.sources.ping';
const CHANGES = ['add', 'update', 'delete'].map((verb) => `dev.knative.apiserver.ref.${verb}`);

const KUBECONFIG: Variable<string | undefined> = {
  env: 'KUBECONFIG',
  meaning: 'how to reach the API server; inside a cluster the mounted service account says it',
  parse: text,
  fallback: undefined,
};

const STORAGE: Variable<'file' | 'memory'> = {
  env: 'STREAM_STORAGE',
  meaning: 'where the stream is kept',
  parse: oneOf('file', 'memory'),
  fallback: 'file',
};

export const metadata = defineFunction({
  name: 'metadata',
  purpose: 'Publishes which pods and nodes there are, and where, as deltas on NATS JetStream.',
  wakesOn: [...CHANGES, SWEEP],
  config: {
    kubeconfigPath: KUBECONFIG,
    natsUrl: {
      env: 'NATS_URL',
      meaning: 'where NATS is',
      parse: url('nats', 'tls'),
      example: 'nats://localhost:4222',
    },
    feedName: {
      env: 'FEED_NAME',
      meaning: 'the stream ballast-<name> with the subjects ballast.<name>.> to publish to',
      parse: token,
      fallback: 'metadata',
    },
    streamReplicas: {
      env: 'STREAM_REPLICAS',
      meaning: 'how many NATS servers keep the stream',
      parse: integer(1, 5),
      fallback: 1,
    },
    streamStorage: STORAGE,
    tombstoneMs: {
      env: 'TOMBSTONE_SECONDS',
      meaning: 'how long a deleted object leaves a trace',
      parse: secondsAsMs(60, 30 * 86_400),
      fallback: 3_600_000,
    },
  },
  open: ({ kubeconfigPath, natsUrl, feedName, ...config }, { log, metrics }): Doors => ({
    kube: openKube({
      userAgent: 'ballast-metadata',
      fieldManager: 'ballast-metadata',
      log,
      onRetry: retryCounter(metrics),
      ...(kubeconfigPath === undefined ? {} : { kubeconfigPath }),
    }),
    stream: new Stream(
      { url: natsUrl.href, name: 'ballast-metadata' },
      {
        name: `ballast-${feedName}`,
        subjects: [`ballast.${feedName}.>`],
        replicas: config.streamReplicas,
        storage: config.streamStorage,
      },
    ),
    prefix: `ballast.${feedName}`,
    tombstoneSeconds: Math.ceil(config.tombstoneMs / 1_000),
  }),
  close: async (doors) => {
    await Promise.all([doors.stream.close(), doors.kube.close()]);
  },
  handle: async (event, { doors, signal, log }) => {
    if (event.type === SWEEP) {
      log.info(await sweep(doors, signal), 'swept');
      return undefined;
    }
    await look(keyFrom(event), doors, signal);
    return undefined;
  },
  routes: [
    {
      method: 'GET',
      path: '/feed',
      summary: 'how many objects the feed holds, and its last version',
      handle: async (_request, { doors, signal }) => ({
        body: { stream: doors.stream.settings.name, ...(await doors.stream.state(signal)) },
      }),
    },
  ],
});

/**
 * Events about one object often come together, and all but one of them lose the compare-and-set.
 * Who lost looks again at once; after the last look the sender is asked to come again.
 */
async function look(key: ObjectKey, doors: Doors, signal: AbortSignal): Promise<void> {
  for (let left = LOOKS_MAX; ; left -= 1) {
    const steps = decide(await observeOne(key, doors, signal));
    try {
      return await takeSteps(steps, doors, signal);
    } catch (error) {
      if (left === 1 || !isConflict(error)) throw error;
    }
  }
}

function retryCounter(metrics: Metrics): (retry: Retry) => void {
  const help = 'Calls to the API server that were sent again, by what was answered before.';
  const retries = metrics.counter('ballast_kube_retries_total', help, ['verb', 'resource', 'code']);
  return ({ verb, resource, code }) => retries.add(1, { verb, resource, code });
}

/** One token of a subject, and a name that a stream may have. */
function token(value: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(value)) return value;
  throw new Error('not a name of letters, digits, dashes and underscores');
}

async function sweep(doors: Doors, signal: AbortSignal): Promise<Record<string, Outcome>> {
  const outcomes: Record<string, Outcome> = {};
  for (const kind of KINDS) {
    const work = (await observeAll(kind, doors, signal)).map(decide);
    outcomes[kind] = await takeAllSteps(work, doors, signal);
  }
  return outcomes;
}

/** As the API server takes them: DNS labels, joined by dots. */
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NAME_LENGTH_MAX = 253;

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= NAME_LENGTH_MAX && NAME.test(value);
}

/** Which object an event is about. What it claims beyond that is not looked at. */
function keyFrom(event: IncomingEvent): ObjectKey {
  const { kind, name, namespace = '' } = event;
  if (!isKind(kind)) {
    const message = `The event is about a ${String(kind)}; the feed holds Pods and Nodes.`;
    throw new Failure('FEED_KIND_UNKNOWN', message, { field: 'kind' });
  }
  if (!isName(name)) {
    const message = `The event about a ${kind} does not say which one by a valid name.`;
    throw new Failure('FEED_NAME_MISSING', message, { field: 'name' });
  }
  if (kind === 'Node') return { kind, name, namespace: '' };
  if (!isName(namespace)) {
    const message = `The event about pod ${name} names no valid namespace.`;
    throw new Failure('FEED_NAMESPACE_MISSING', message, { field: 'namespace' });
  }
  return { kind, name, namespace };
}
