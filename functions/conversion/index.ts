// Converts objects of our own kinds between their versions, when the API server asks. It stands in
// the way of every read of another version than the stored one, so it never sleeps and is no
// Knative Service (knative/overlays/timeline). Wakes on no event. In the order of a review: routes,
// review, and shared/kube/own-kinds with the words of each kind; beside them front and keeper, for
// TLS.
import { defineFunction } from '../../shared/function/define.ts';
import { KUBECONFIG } from '../../shared/function/kube-config.ts';
import { integer, text } from '../../shared/function/parsers.ts';
import { Deps } from './deps.ts';
import { routes } from './routes.ts';

const portNumber = integer(0, 65_535);

export const conversion = defineFunction({
  name: 'conversion',
  purpose: 'Converts objects of the kinds of ballast.dev between their versions.',
  wakesOn: [],
  config: {
    kubeconfigPath: KUBECONFIG,
    tlsPort: {
      env: 'TLS_PORT',
      meaning: 'where to listen with TLS, with a certificate of its own; nowhere when not set',
      parse: (value): number | undefined => portNumber(value),
      fallback: undefined,
    },
    namespace: {
      env: 'SERVICE_NAMESPACE',
      meaning: 'the namespace of the Service that the API server calls',
      parse: text,
      fallback: 'ballast-system',
    },
    service: {
      env: 'SERVICE_NAME',
      meaning: 'its name, which the certificate is for',
      parse: text,
      fallback: 'conversion',
    },
  },
  open: (config, { clock, log }) => new Deps({ ...config, clock, log }),
  listening: (deps, port, host) => deps.standBefore(port, host),
  readApiServer: ({ keys }, path, signal) => keys.read(path, signal),
  close: (deps) => deps.close(),
  routes,
});
