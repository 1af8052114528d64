// Who may reach the servers: clients, as the spec says; for routes each other; for the monitoring
// pages, which ask for no password, those who scrape. The kubelet's probes come from the node,
// which no policy keeps off. Pure.
import type { Manifest } from '../../../shared/kube/objects.ts';
import { CLIENT_PORT, type Cluster, ROUTE_PORT } from '../cluster.ts';
import { selectorOf } from './labels.ts';

/** As functions have it: who may scrape is said by a label on his namespace. */
const SCRAPERS = { namespaceSelector: { matchLabels: { 'ballast.dev/may-scrape': 'true' } } };
/** It asks the servers how they are, as a client. */
const FUNCTION = {
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ballast-system' } },
  podSelector: { matchLabels: { 'serving.knative.dev/service': 'nats-cluster' } },
};

export function networkPolicySpec(cluster: Cluster): Pick<Manifest, 'spec'> {
  const { networkPolicy, monitoringPort } = cluster.spec;
  const servers = { matchLabels: selectorOf(cluster) };
  // Policies add up: what this one opens no other closes.
  const clients = networkPolicy === 'Closed' ? { from: [FUNCTION] } : {};
  return {
    spec: {
      podSelector: servers,
      policyTypes: ['Ingress'],
      ingress: [
        { ports: [tcp(CLIENT_PORT)], ...clients },
        { ports: [tcp(ROUTE_PORT)], from: [{ podSelector: servers }] },
        { ports: [tcp(monitoringPort)], from: [SCRAPERS] },
      ],
    },
  };
}

const tcp = (port: number) => ({ protocol: 'TCP', port });
