// The parts of Knative that run as images on a cluster of our own making: Serving, Kourier, the
// multi-tenant Broker on in-memory channels, and kn. Named as Knative names their deployments.
import type { KnativePartGroup, KnativePartName, PartEntry } from './part-entry.ts';

interface ModuleOfParts {
  readonly group: KnativePartGroup;
  readonly module: string;
  readonly version: string;
}

const eventing: ModuleOfParts = {
  group: 'knative-eventing',
  module: 'knative.dev/eventing',
  version: 'v0.50.0',
};
const serving: ModuleOfParts = {
  group: 'knative-serving',
  module: 'knative.dev/serving',
  version: 'v0.50.0',
};
const kourier: ModuleOfParts = {
  group: 'knative-kourier',
  module: 'knative.dev/net-kourier',
  version: 'v0.48.0',
};
const KN_VERSION = 'v0.41.0';

function part(name: KnativePartName, command: string, of: ModuleOfParts): PartEntry {
  return {
    ...of,
    name,
    package: `${of.module}/cmd/${command}`,
    stamps: {},
    minorSkew: 0,
    isKubebuilderAsset: false,
    user: 'knative',
  };
}

export const knativeEntries: readonly PartEntry[] = [
  part('eventing-controller', 'controller', eventing),
  part('eventing-webhook', 'webhook', eventing),
  part('pingsource-mt-adapter', 'mtping', eventing),
  part('mt-broker-controller', 'mtchannel_broker', eventing),
  part('mt-broker-ingress', 'broker/ingress', eventing),
  part('mt-broker-filter', 'broker/filter', eventing),
  part('imc-controller', 'in_memory/channel_controller', eventing),
  part('imc-dispatcher', 'in_memory/channel_dispatcher', eventing),
  part('auth-proxy', 'auth_proxy', eventing),
  part('serving-controller', 'controller', serving),
  part('serving-webhook', 'webhook', serving),
  part('activator', 'activator', serving),
  part('autoscaler', 'autoscaler', serving),
  part('queue-proxy', 'queue', serving),
  part('kourier', 'kourier', kourier),
  {
    // The newest whose modules are all published with checksums.
    ...part('kn', 'kn', { group: 'kn', module: 'knative.dev/client', version: KN_VERSION }),
    stamps: { 'knative.dev/client/pkg/kn/commands/version.Version': KN_VERSION },
  },
];
