// The NatsCluster of the NATS operator as it was read, and the names of what the operator made for
// it. Its definition has no schema, so that anything may stand in any field. Pure.
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { legacyOf, type LegacyObject } from '../legacy.ts';

export interface LegacyNats extends LegacyObject {
  readonly resourceVersion: string;
}

/** More than a NatsCluster of ours may have. */
const SIZE_MAX = 100;

export const legacyNatsOf = (object: KubeObject): LegacyNats => ({
  ...legacyOf(object, SIZE_MAX),
  resourceVersion: object.metadata.resourceVersion,
});

/** On pods, Services and Secrets: the name of the object. */
export const NATS_LABEL = 'nats_cluster';

/** Clients connect to it. */
export const clientServiceOf = ({ name }: Pick<LegacyNats, 'name'>): string => name;

/** Gives the servers their names in DNS, by which they are routed. */
export const routeServiceOf = ({ name }: Pick<LegacyNats, 'name'>): string => `${name}-mgmt`;

/** The Secret that the servers read their configuration from. */
export const configSecretOf = ({ name }: Pick<LegacyNats, 'name'>): string => name;

/** Where a Secret has that. */
export const CONFIG_KEY = 'nats.conf';

export const clientHostOf = ({ name, namespace }: LegacyNats): string =>
  `${clientServiceOf({ name })}.${namespace}.svc`;

/** Servers speak with each other at this port. */
const ROUTE_PORT = 6222;

/** Where the server of this pod takes routes, as the others know it. */
export const routeOf = ({ name, namespace }: LegacyNats, pod: string): string =>
  `${pod}.${routeServiceOf({ name })}.${namespace}.svc:${ROUTE_PORT}`;
