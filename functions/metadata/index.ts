// Publishes what runs where. Wakes on changes of the kinds its feeds show, and on the sweep's tick;
// compares an object, or what happened since the last sweep, with the stream, and writes what the
// stream lacks. Its memory is the stream and the feed's status: two instances at once, lost events
// and a killed process cost time, never a wrong answer that stays.
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
import type { Session } from './session.ts';

const TRUSTS_EVERYBODY =
  'CONFIRM_EVENTS is false and no tokens are asked for: whoever reaches this function from an ' +
  'address of SENDER_ADDRESSES can show readers what is not so, until the next sweep';

/** A request for each change: needless where none but our own sources can send. */
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
      namespace: config.namespace,
      nats: { url: config.natsUrl.href, access: accessOfFunction(config.natsSecretDir) },
      confirmsEvents,
    });
  },
  readApiServer: readJson,
  close: (deps) => deps.close(),
  handle: async (event, context) => {
    // Loaded with the first event: being ready must not wait for what nobody asked for yet.
    const { sweepAll, takeChange } = await import('./reconciler.ts');
    if (event.type === SWEEP) await sweepAll(context);
    else await takeChange(event, context);
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
