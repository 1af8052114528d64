// Publishes what runs where, as messages on NATS JetStream. Two CloudEvents wake it: a change of a
// kind that a feed shows, and the sweep's tick. It differs from the other functions: an event does
// not lead to the reconcile of one custom resource, but to the reconcile of one object's messages
// in the stream of every MetadataFeed. All memory is the stream and the feed's status. Two
// instances at once, lost events and a killed process cost time, and no wrong answer stays.
//
// The files, in the order an event travels:
//   reconciler         the entry: a change goes to every feed, a tick to the feeds that are due
//   parse-event        the object in an event, and the resource of the feed that it belongs to
//   confirm-event      asks the API server whether the event is true (CONFIRM_EVENTS)
//   observation        an object as it was seen, and what the feed shows of it
//   reconcile-object   reads the stream, decides, writes; again when another instance was faster
//   observe            reads of both sides: messages in the stream, one object in the API server
//   decide             which messages to write; why an older event never overwrites a newer state
//   steps              writes by compare-and-set, all messages about one object in one batch
// and the sweep:
//   sweep              the order of its stages
//   list-probe         newest resourceVersion and number of objects, by a list of one
//   epoch              when a new epoch begins, as after a restore of etcd or a lost stream
//   replay             history by watch; relists on 410 Gone
//   repair-resource    lists a resource anew whose messages were found to be wrong
//   verify-live        reads from the API server what history did not confirm
//   stream-scan        reads the stream once: digests, counts, foreign messages; fingerprint-table
//   checkpoints        writes what readers verify themselves against, and the floor
//   count-check        compares counts, to find messages that were removed by hand
//   prune              ends messages that the spec no longer covers
//   status             conditions; when Degraded turns True; gauges: metrics of each feed
// and beside them:
//   deps, session      clients, and what is held for each feed; session-cache, nats-secrets
//   feed               a MetadataFeed, with its defaults
//
// The same for every function: retries on 429 (shared/kube/retry.ts), the limit of a request's body
// (shared/function/body.ts), readiness (shared/function/health.ts), draining on SIGTERM
// (shared/function/drain.ts).
import type { Variable } from '../../shared/function/config.ts';
import { defineFunction } from '../../shared/function/define.ts';
import { KUBECONFIG } from '../../shared/function/kube-config.ts';
import type { Metrics } from '../../shared/function/metrics.ts';
import { NATS_SECRET_DIR } from '../../shared/function/nats-config.ts';
import { flag, text, url } from '../../shared/function/parsers.ts';
import { CHANGES, SWEEP } from '../../shared/function/sources.ts';
import type { Retry } from '../../shared/kube/calls.ts';
import { openKube } from '../../shared/kube/client.ts';
import { readJson } from '../../shared/kube/read-json.ts';
import { accessOfFunction } from '../../shared/nats/access.ts';
import { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { FeedGauges } from './gauges.ts';
import type { Session } from './session.ts';

const TRUSTS_EVERYBODY =
  'CONFIRM_EVENTS is false and no tokens are asked for: whoever reaches this function from an ' +
  'address of SENDER_ADDRESSES can show readers what is not so, until the next sweep';

/**
 * Off where only the cluster's own sources can send events: it saves one request for each change.
 */
const CONFIRM_EVENTS: Variable<boolean | undefined> = {
  env: 'CONFIRM_EVENTS',
  meaning:
    'whether the API server is asked before anything is published on the word of an event; when ' +
    'not set, where no token is asked for (SENDER_AUDIENCE)',
  parse: flag,
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
    natsSecretDir: NATS_SECRET_DIR,
    confirmsEvents: CONFIRM_EVENTS,
  },
  open: (config, { clock, log, metrics, asksTokens }): Deps => {
    const confirmsEvents = config.confirmsEvents ?? !asksTokens;
    if (!confirmsEvents && !asksTokens) log.warn(TRUSTS_EVERYBODY);
    return new Deps({
      kube: openKube({
        kubeconfigPath: config.kubeconfigPath,
        userAgent: FIELD_MANAGER,
        fieldManager: FIELD_MANAGER,
        log,
        onRetry: retryCounter(metrics),
      }),
      clock,
      log,
      metrics,
      gauges: new FeedGauges(metrics),
      namespace: config.namespace,
      nats: { url: config.natsUrl.href, access: accessOfFunction(config.natsSecretDir) },
      confirmsEvents,
    });
  },
  readApiServer: readJson,
  close: (deps) => deps.close(),
  handle: async (event, context) => {
    // Loaded with the first event, so that it does not delay readiness.
    const { sweepDueFeeds, handleChange } = await import('./reconciler.ts');
    if (event.type === SWEEP) await sweepDueFeeds(context);
    else await handleChange(event, context);
    return undefined;
  },
  routes: [
    {
      method: 'GET',
      path: '/feeds',
      summary: 'the feeds that are served, and how far each was compared with the API server',
      handle: async (_request, { deps, signal }) => ({
        body: (await deps.sessions(signal)).map(describe),
      }),
    },
  ],
});

function retryCounter(metrics: Metrics): (retry: Retry) => void {
  const help = 'Calls to the API server that were sent again, by what was answered before.';
  const retries = metrics.counter('ballast_kube_retries_total', help, ['verb', 'resource', 'code']);
  return ({ verb, resource, code }) => retries.add(1, { verb, resource, code });
}

function describe({ feed: { name, status } }: Session): Readonly<Record<string, unknown>> {
  const { epoch, version, sweptAt, resources = [] } = status;
  const objects = resources.reduce((sum, row) => sum + row.objects, 0);
  return { feed: name, epoch, version, sweptAt, objects };
}
