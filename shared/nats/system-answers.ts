// Answers of servers over the system account, as far as they are used here. Anybody may pose as a
// server, so no shape is trusted: an answer of another shape counts as none. Measured on
// nats-server 2.14.9 and 2.15.2; docs/design/20261121-nats-cluster.md has the results.
import { isRecord } from './record.ts';

export interface ServerAnswer {
  readonly server: { readonly name: string; readonly id: string; readonly ver: string };
}

export interface VarzAnswer extends ServerAnswer {
  readonly data: { readonly config_digest?: string };
}

export interface HealthAnswer extends ServerAnswer {
  readonly data: {
    readonly status: string;
    readonly error?: string;
    readonly errors?: readonly HealthError[];
  };
}

export interface HealthError {
  readonly account?: string;
  readonly stream?: string;
  readonly consumer?: string;
  readonly error?: string;
}

export interface JszAnswer extends ServerAnswer {
  readonly data: {
    readonly meta_cluster?: MetaCluster;
    readonly account_details?: readonly AccountDetail[];
  };
}

/** Only the leader's view of the others is worth anything; its own peer id stands in `peer`. */
interface MetaCluster {
  readonly leader?: string;
  readonly peer?: string;
  readonly cluster_size?: number;
  readonly replicas?: readonly PeerInfo[];
}

export interface PeerInfo {
  readonly name: string;
  readonly current: boolean;
  readonly offline?: boolean;
  /** Nanoseconds since it was heard of. */
  readonly active: number;
  readonly lag?: number;
  readonly peer?: string;
}

interface AccountDetail {
  readonly name: string;
  readonly stream_detail?: readonly StreamDetail[];
}

export interface StreamDetail {
  readonly name: string;
  readonly cluster?: GroupCluster;
  readonly config?: {
    readonly num_replicas: number;
    readonly storage: string;
    readonly retention?: string;
  };
  readonly consumer_detail?: readonly ConsumerDetail[];
}

export interface ConsumerDetail {
  readonly name: string;
  readonly cluster?: GroupCluster;
  readonly config?: { readonly num_replicas?: number; readonly durable_name?: string };
}

export interface GroupCluster {
  readonly leader?: string;
  readonly replicas?: readonly PeerInfo[];
  /** While its members change (2.15). */
  readonly desired?: boolean;
}

/** Each throws an Odd for what no NATS server says. */
export type Read<Answer> = (json: unknown) => Answer;

export class Odd extends Error {}

/** No server has as many; what is more would be kept for nothing. */
const ERRORS_MAX = 10_000;
const PEERS_MAX = 32;
const ENTRIES_MAX = 20_000;
const TEXT_MAX = 512;

export const readVarz: Read<VarzAnswer> = (json) => {
  const { server, data } = readServer(json);
  const digest = optional(data['config_digest'], text);
  return { server, data: digest === undefined ? {} : { config_digest: digest } };
};

export const readHealth: Read<HealthAnswer> = (json) => {
  const { server, data } = readServer(json);
  return {
    server,
    data: known({
      status: sentence(data['status']),
      error: optional(data['error'], sentence),
      errors: list(data['errors'], ERRORS_MAX, healthError),
    }),
  };
};

export const readJsz: Read<JszAnswer> = (json) => {
  const { server, data } = readServer(json);
  return {
    server,
    data: known({
      meta_cluster: optional(data['meta_cluster'], metaCluster),
      account_details: list(data['account_details'], ENTRIES_MAX, account),
    }),
  };
};

function readServer(json: unknown): ServerAnswer & { readonly data: Record<string, unknown> } {
  const { server, data } = record(json);
  const { name, id, ver } = record(server);
  return { server: { name: text(name), id: text(id), ver: text(ver) }, data: record(data) };
}

const healthError: Read<HealthError> = (json) => {
  const { account: of, stream: name, consumer, error } = record(json);
  return known({
    account: optional(of, text),
    stream: optional(name, text),
    consumer: optional(consumer, text),
    error: optional(error, sentence),
  });
};

const metaCluster: Read<MetaCluster> = (json) => {
  const { leader, peer: own, cluster_size, replicas } = record(json);
  return known({
    leader: optional(leader, text),
    peer: optional(own, text),
    cluster_size: optional(cluster_size, amount),
    replicas: list(replicas, PEERS_MAX, peer),
  });
};

const peer: Read<PeerInfo> = (json) => {
  const { name, current, offline, active, lag, peer: id } = record(json);
  return known({
    name: text(name),
    current: current === true,
    offline: offline === true,
    active: amount(active),
    lag: optional(lag, amount),
    peer: optional(id, text),
  });
};

const account: Read<AccountDetail> = (json) => {
  const { name, stream_detail } = record(json);
  return { name: text(name), stream_detail: list(stream_detail, ENTRIES_MAX, stream) };
};

const stream: Read<StreamDetail> = (json) => {
  const { name, cluster, config, consumer_detail } = record(json);
  return known({
    name: text(name),
    cluster: optional(cluster, group),
    config: optional(config, streamConfig),
    consumer_detail: list(consumer_detail, ENTRIES_MAX, consumerDetail),
  });
};

const streamConfig: Read<NonNullable<StreamDetail['config']>> = (json) => {
  const { num_replicas, storage, retention } = record(json);
  return known({
    num_replicas: amount(num_replicas),
    storage: text(storage),
    retention: optional(retention, text),
  });
};

const consumerDetail: Read<ConsumerDetail> = (json) => {
  const { name, cluster, config } = record(json);
  return known({
    name: text(name),
    cluster: optional(cluster, group),
    config: optional(config, consumerConfig),
  });
};

const consumerConfig: Read<NonNullable<ConsumerDetail['config']>> = (json) => {
  const { num_replicas, durable_name } = record(json);
  return known({
    num_replicas: optional(num_replicas, amount),
    durable_name: optional(durable_name, text),
  });
};

const group: Read<GroupCluster> = (json) => {
  const { leader, replicas, desired } = record(json);
  return known({
    leader: optional(leader, text),
    replicas: list(replicas, PEERS_MAX, peer),
    desired: desired === undefined || desired === null ? undefined : true,
  });
};

function record(value: unknown): Record<string, unknown> {
  if (isRecord(value)) return value;
  throw new Odd();
}

/** Names and ids, which NATS never lets have such characters. */
function text(value: unknown): string {
  if (typeof value === 'string' && value.length <= TEXT_MAX && !/\p{C}/u.test(value)) return value;
  throw new Odd();
}

/** Words for people. */
function sentence(value: unknown): string {
  if (typeof value !== 'string') throw new Odd();
  return value.slice(0, TEXT_MAX).replaceAll(/\p{C}+/gu, ' ');
}

function amount(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new Odd();
}

function optional<Value>(value: unknown, read: Read<Value>): Value | undefined {
  return value === undefined || value === null ? undefined : read(value);
}

/** Go writes an empty list as null. */
function list<Item>(value: unknown, max: number, read: Read<Item>): readonly Item[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > max) throw new Odd();
  return value.map((one) => read(one));
}

type Known<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<
    Fields[Name],
    undefined
  >;
};

/** Without what is undefined. */
function known<Fields extends object>(fields: Fields): Known<Fields> {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined);
  // Just those are left out that may be.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(there) as Known<Fields>;
}
