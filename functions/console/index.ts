// A page that says whether anything is wrong and what to do, and what runs where. Wakes on no
// event: it reads our objects when somebody looks, and pods and nodes from the feed. It answers
// senders alone; as long as none are named, this machine alone. Read on in kinds.ts (what ought to
// be, of feeds, clusters and all others), observe.ts, decide.ts, shown.ts; pod-log.ts, served.ts;
// routes.ts, answers.ts; page/ is what a browser runs.
import { defineFunction } from '../../shared/function/define.ts';
import { KUBECONFIG } from '../../shared/function/kube-config.ts';
import { feedReader } from '../../shared/function/nats-config.ts';
import { text } from '../../shared/function/parsers.ts';
import { openKube } from '../../shared/kube/client.ts';
import { readJson } from '../../shared/kube/read-json.ts';
import { accessOfFunction } from '../../shared/nats/access.ts';
import { openReplica } from '../../shared/nats/replica/replica.ts';
import { READER_API } from '../../shared/nats/rights.ts';
import { Deps } from './deps.ts';
import { HEADERS } from './headers.ts';
import { routes } from './routes.ts';

const NAME = 'ballast-console';

export const consolePage = defineFunction({
  name: 'console',
  purpose: 'Shows whether anything is wrong and what to do, and what runs where.',
  wakesOn: [],
  isForSenders: true,
  headers: HEADERS,
  config: {
    kubeconfigPath: KUBECONFIG,
    ...feedReader(READER_API),
    namespace: {
      env: 'LEASE_NAMESPACE',
      meaning: 'where the Leases are by which one sees that functions sweep',
      parse: text,
      fallback: 'ballast-system',
    },
  },
  open: (config, { clock, log }): Deps => {
    const { kubeconfigPath, natsUrl, natsSecretDir, feedName: feed, apiPrefix, namespace } = config;
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
    const kube = openKube({ kubeconfigPath, userAgent: NAME, fieldManager: NAME, clock, log });
    return new Deps({ kube, replica, clock, namespace });
  },
  readApiServer: (deps, path, signal) => readJson(deps, path, signal),
  close: (deps) => deps.close(),
  routes,
});
