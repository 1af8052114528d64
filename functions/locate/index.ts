// Answers over HTTP where workloads run and what an address, a uid or a container is, from a
// replica of the whole feed that it keeps in memory. Wakes on no event: it follows the feed by
// itself, and reads nothing from the API server but keys, when callers show tokens. It reconciles
// nothing, so it has routes instead of observe, decide, steps and status.
import { defineFunction } from '../../shared/function/define.ts';
import { KUBECONFIG } from '../../shared/function/kube-config.ts';
import type { Gauge, Metrics } from '../../shared/function/metrics.ts';
import { feedReader } from '../../shared/function/nats-config.ts';
import { secondsAsMs } from '../../shared/function/parsers.ts';
import { KeyReader } from '../../shared/kube/key-reader.ts';
import { accessOfFunction } from '../../shared/nats/access.ts';
import { type Replica, openReplica } from '../../shared/nats/replica/replica.ts';
import type { ReplicaState } from '../../shared/nats/replica/state.ts';
import { READER_API } from '../../shared/nats/rights.ts';
import { Deps } from './deps.ts';
import { routes } from './routes.ts';

const NAME = 'ballast-locate';

export const locate = defineFunction({
  name: 'locate',
  purpose: 'Says which nodes run a workload, and what an address, a uid or a container is.',
  wakesOn: [],
  config: {
    kubeconfigPath: KUBECONFIG,
    ...feedReader(READER_API),
    waitMs: {
      env: 'MIN_VERSION_WAIT_SECONDS',
      meaning: 'how long an answer waits for the version that its caller wants at least',
      parse: secondsAsMs(0, 30),
      fallback: 5_000,
    },
  },
  open: (config, { clock, log, metrics }): Deps => {
    const { kubeconfigPath, natsUrl, natsSecretDir, feedName: feed, apiPrefix, waitMs } = config;
    const replica = openReplica({
      url: natsUrl.href,
      access: accessOfFunction(natsSecretDir),
      feed,
      apiPrefix,
      scope: 'cluster',
      name: NAME,
      clock,
      log,
    });
    // Indexed from the beginning, so that the first request does not wait for it.
    replica.catalog.index();
    showState(replica, metrics);
    const identity = { userAgent: NAME, fieldManager: NAME };
    return new Deps(replica, waitMs, new KeyReader({ kubeconfigPath, ...identity, log }));
  },
  readApiServer: ({ keys }, path, signal) => keys.read(path, signal),
  close: (deps) => deps.close(),
  routes,
});

/** For alerts: whoever reads one answer may not see that it is old. */
export function showState(
  replica: Pick<Replica, 'state' | 'watchState'>,
  metrics: Pick<Metrics, 'gauge'>,
): void {
  const stale = metrics.gauge(
    'ballast_feed_stale',
    '1 when nobody swept the feed in time, else 0.',
  );
  const swept = metrics.gauge('ballast_feed_swept_timestamp_seconds', SWEPT_HELP);
  const verified = metrics.gauge('ballast_feed_verified_timestamp_seconds', VERIFIED_HELP);
  const behind = metrics.gauge('ballast_feed_behind_messages', BEHIND_HELP);
  const show = (state: ReplicaState): void => {
    const { isStale, sweptAtMs, verifiedAtMs, behind: toRead = 0 } = state;
    stale.set(isStale === true ? 1 : 0);
    behind.set(toRead);
    setOrForget(swept, sweptAtMs);
    setOrForget(verified, verifiedAtMs);
  };
  show(replica.state);
  replica.watchState(show);
}

function setOrForget(gauge: Gauge, atMs: number | undefined): void {
  if (atMs === undefined) gauge.forget({});
  else gauge.set(atMs / 1_000);
}

const SWEPT_HELP =
  'When the feed that an instance reads was last compared with the API server, in Unix seconds. ' +
  'Absent until it has heard of that.';
const VERIFIED_HELP =
  'When a checkpoint of the feed agreed the last time with what an instance holds, in Unix ' +
  'seconds. Absent until one did.';
const BEHIND_HELP =
  'Messages of the feed that an instance has yet to read; 0 while it is not catching up.';
