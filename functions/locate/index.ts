// Answers over HTTP where workloads run and what an address, a uid or a container is, from a
// replica of the whole feed that it keeps in memory. Wakes on no event: it follows the feed by
// itself, and asks the API server nothing but keys, where callers show tokens.
import { defineFunction } from '../../shared/function/define.ts';
import { KUBECONFIG } from '../../shared/function/kube-config.ts';
import { secondsAsMs, text, url } from '../../shared/function/parsers.ts';
import { KeyDoor } from '../../shared/kube/key-door.ts';
import { openReplica } from '../../shared/nats/replica/replica.ts';
import { READER_API } from '../../shared/nats/rights.ts';
import { Doors } from './doors.ts';
import { routes } from './questions.ts';

const NAME = 'ballast-locate';

export const locate = defineFunction({
  name: 'locate',
  purpose: 'Says which nodes run a workload, and what an address, a uid or a container is.',
  wakesOn: [],
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
      meaning: 'the feed to read, as the metadata function names it',
      parse: feedName,
      fallback: 'cluster',
    },
    apiPrefix: {
      env: 'NATS_API_PREFIX',
      meaning: "what JetStream's API is called in the account of this user",
      parse: text,
      fallback: READER_API,
    },
    waitMs: {
      env: 'MIN_VERSION_WAIT_SECONDS',
      meaning: 'how long an answer waits for the version that its caller wants at least',
      parse: secondsAsMs(0, 30),
      fallback: 5_000,
    },
  },
  open: ({ kubeconfigPath, natsUrl, feedName: feed, apiPrefix, waitMs }, { clock, log }): Doors => {
    const replica = openReplica({
      url: natsUrl.href,
      feed,
      apiPrefix,
      scope: 'cluster',
      name: NAME,
      clock,
      log,
    });
    // Kept up from the beginning: the first question must not wait for it.
    replica.catalog.index();
    const identity = { userAgent: NAME, fieldManager: NAME };
    return new Doors(replica, waitMs, new KeyDoor({ kubeconfigPath, ...identity, log }));
  },
  readApiServer: ({ keys }, path, signal) => keys.read(path, signal),
  close: (doors) => doors.close(),
  routes,
});

/** One token of a subject, and a name that a stream may have. */
function feedName(value: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(value)) return value;
  throw new Error('not a name of letters, digits, dashes and underscores');
}
