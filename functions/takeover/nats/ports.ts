// Ports of old servers and of new ones. Pure.

export const CLIENT_PORT = 4222;
/** The same one as containers of a chart name it; those of a NatsCluster name it otherwise. */
export const CHART_PORT = 'nats';

/** The operator gave it this one always; a NatsCluster has it if it says nothing else. */
export const MONITORING_PORT = 8222;

/** Servers speak with each other at this port. */
export const ROUTE_PORT = 6222;

/** Where a Service may lead to servers of both: for clients, and for who watches them. */
export const PORTS_OF_BOTH: ReadonlySet<unknown> = new Set([
  CLIENT_PORT,
  MONITORING_PORT,
  'monitor',
]);
