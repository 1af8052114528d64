// The network policy of the servers: clients get in as the spec says, servers reach each other's
// routes, and scrapers the monitoring pages, which ask for no password. The kubelet's probes come
// from the node, which no policy keeps off. Pure.
import { TAKEOVER_LABEL } from '../../../shared/api/takeover.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { CLIENT_PORT, type Cluster, ROUTE_PORT } from '../cluster.ts';
import { selectorOf } from './labels.ts';

/** Scrapers are allowed as for the functions: by a label on their namespace. */
const SCRAPERS = { namespaceSelector: { matchLabels: { 'ballast.dev/may-scrape': 'true' } } };
const podsOf = (name: string) => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ballast-system' } },
  podSelector: { matchLabels: { 'serving.knative.dev/service': name } },
});

/** This function asks the servers how they are, as a client. */
const FUNCTION = podsOf('nats-cluster');
/** Where a NatsCluster is made for a Takeover: it counts the clients that have come. */
const TAKEOVER = podsOf('takeover');

export function networkPolicySpec(cluster: Cluster): Pick<Manifest, 'spec'> {
  const { networkPolicy, monitoringPort } = cluster.spec;
  const isMadeFor = cluster.object.metadata.labels?.[TAKEOVER_LABEL] !== undefined;
  const servers = { matchLabels: selectorOf(cluster) };
  // Policies add up: no other policy can close a port that this one opens.
  const clients = networkPolicy === 'Closed' ? { from: [FUNCTION] } : {};
  return {
    spec: {
      podSelector: servers,
      policyTypes: ['Ingress'],
      ingress: [
        { ports: [tcp(CLIENT_PORT)], ...clients },
        { ports: [tcp(ROUTE_PORT)], from: [{ podSelector: servers }] },
        { ports: [tcp(monitoringPort)], from: [SCRAPERS, ...(isMadeFor ? [TAKEOVER] : [])] },
      ],
    },
  };
}

const tcp = (port: number) => ({ protocol: 'TCP', port });
