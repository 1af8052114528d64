// A NatsCluster as it was read, in the terms of this function, and what its parts are called. Pure.
import type { NatsClusterSpec, NatsClusterStatus } from '../../shared/api/nats-cluster.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { type OwnObject, ownObjectOf } from '../../shared/kube/own-object.ts';

export type Cluster = OwnObject<NatsClusterSpec, NatsClusterStatus>;

export const clusterOf: (object: KubeObject) => Cluster = ownObjectOf;

type Named = Pick<Cluster, 'name' | 'namespace'>;

export const serverName = ({ name }: Pick<Cluster, 'name'>, ordinal: number): string =>
  `${name}-${ordinal}`;

/** The names of the first `count` servers. */
export const serverNames = (cluster: Pick<Cluster, 'name'>, count: number): readonly string[] =>
  Array.from({ length: count }, (_, ordinal) => serverName(cluster, ordinal));

export const ordinalOf = (server: string): number =>
  Number(server.slice(server.lastIndexOf('-') + 1));

/** The volume claim template, and so how claims begin. */
export const CLAIM = 'data';

export const isClaim = (name: string): boolean => name.startsWith(`${CLAIM}-`);

export const claimName = (server: string): string => `${CLAIM}-${server}`;

export const headlessName = ({ name }: Pick<Cluster, 'name'>): string => `${name}-headless`;

/** Clients connect to this name, so their certificates are issued for it. */
export const serviceHost = ({ name, namespace }: Named): string => `${name}.${namespace}.svc`;

export const headlessHost = (cluster: Named): string =>
  `${headlessName(cluster)}.${cluster.namespace}.svc`;

export const CLIENT_PORT = 4222;
export const ROUTE_PORT = 6222;
