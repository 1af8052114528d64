// A NATS that is taken over, whoever made it, and the names of what was made for it. The folder
// `made/` has what differs from one maker to another. Pure.
import type { LegacyObject } from '../legacy.ts';
import { ROUTE_PORT } from './ports.ts';

export interface LegacyNats extends LegacyObject {
  readonly resourceVersion: string;
  /** Clients connect to it. */
  readonly clientService: string;
  /** Gives the servers their names in DNS, by which they are routed. */
  readonly routeService: string;
  /** The Secret or ConfigMap that the servers read their configuration from. */
  readonly configName: string;
  /** Labels by which pods are listed. */
  readonly selector: string;
  /** The labels that its Services select by. */
  readonly labels: Readonly<Record<string, string>>;
  /** Resources of each server, as a NatsCluster says them. */
  readonly resources: Readonly<Record<string, unknown>>;
  /** Pods that are made anew when they go; none where nobody does. */
  readonly replicas: number;
  readonly chart: ChartRelease | undefined;
}

/** A release of the chart `nats`, as Helm made it. */
export interface ChartRelease {
  /** Version of the chart, as `2.14.2`; undefined where it is another chart, or none. */
  readonly version: string | undefined;
  readonly release: string;
  /** Helm itself has made it, and knows the release. */
  readonly isOfHelm: boolean;
  /** Some other program applies it over and over, by its mark on the object. */
  readonly appliedBy: string | undefined;
}

/** Where a Secret or ConfigMap has what servers were told. */
export const CONFIG_KEY = 'nats.conf';

/** Where the server of this pod takes routes, as the others know it. */
export const routeOf = ({ routeService, namespace }: LegacyNats, pod: string): string =>
  `${pod}.${routeService}.${namespace}.svc:${ROUTE_PORT}`;

export const selectorOf = (labels: LegacyNats['labels']): string =>
  Object.entries(labels)
    .map((pair) => pair.join('='))
    .join(',');
