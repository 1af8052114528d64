// A cluster of real etcd members on loopback, started and changed one by one, as an operator does.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import {
  type EtcdAdmin,
  type EtcdAdminOptions,
  type EtcdMemberAdmin,
  openEtcdAdmin,
} from '../../../shared/etcd/admin.ts';
import { isEtcdFailure } from '../../../shared/etcd/admin/failure.ts';
import type { EtcdEndpoint } from '../../../shared/etcd/admin/gateway.ts';
import type { Identity } from '../../../shared/x509.ts';

export interface ClusterOptions {
  /** Default: `etcd`. */
  readonly part?: 'etcd' | 'etcd-previous' | 'etcd-next' | 'etcd-3-4' | 'etcd-3-3';
  /** By which clients and members know each other; `certificate` is for a member's name. */
  readonly tls?: {
    readonly caPem: string;
    /** For members' own certificates, where that is another. */
    readonly serverCaPem?: string;
    readonly certificate: (name: string) => Identity;
    readonly client: Identity;
  };
  readonly flags?: readonly string[];
  /** It refuses to start with flags that it does not know. */
  readonly hasOldFlags?: boolean;
  /** Default: it knows a leader, or asks who we are. */
  readonly isReady?: (member: EtcdMemberAdmin, signal: AbortSignal) => Promise<boolean>;
}

const hasLeader: NonNullable<ClusterOptions['isReady']> = async (member, signal) => {
  try {
    return (await member.status({ signal })).leaderId !== undefined;
  } catch (error) {
    if (isEtcdFailure(error, 'NO_LOGIN')) return true;
    throw error;
  }
};

/** Where a member is, before and after it runs. */
export interface Place {
  readonly name: string;
  readonly endpoint: EtcdEndpoint;
  readonly peerUrl: string;
}

export class EtcdCluster {
  readonly plane: Plane;
  readonly #options: ClusterOptions;
  readonly #opened: EtcdAdmin[] = [];
  readonly #places: Place[] = [];

  private constructor(plane: Plane, options: ClusterOptions) {
    this.plane = plane;
    this.#options = options;
  }

  /** So many members, which have elected a leader. */
  static async start(count: number, options: ClusterOptions = {}): Promise<EtcdCluster> {
    const cluster = new EtcdCluster(await startPlane({ parts: [] }), options);
    try {
      const places: Place[] = [];
      for (let index = 0; index < count; index += 1) places.push(await cluster.place());
      await Promise.all(places.map((place) => cluster.run(place, places)));
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** For one more member, which does not run yet. */
  async place(): Promise<Place> {
    const name = `member-${this.#places.length}`;
    const hasTls = this.#options.tls !== undefined;
    const url = `${hasTls ? 'https' : 'http'}://127.0.0.1:${await freePort()}`;
    const endpoint = { url, ...(hasTls ? { serverName: nameOnNetwork(name) } : {}) };
    const place = { name, endpoint, peerUrl: `http://127.0.0.1:${await freePort()}` };
    this.#places.push(place);
    return place;
  }

  /** Starts a member among these; `existing` once the cluster knows of it. */
  async run(
    { name, endpoint, peerUrl }: Place,
    all: readonly Place[],
    state: 'new' | 'existing' = 'new',
    part = this.#options.part,
  ): Promise<Part> {
    const { url } = endpoint;
    const { isReady = hasLeader } = this.#options;
    const member = this.admin().at(endpoint);
    return this.plane.add({
      name,
      command: await resolvePart(part ?? 'etcd'),
      args: [
        `--name=${name}`,
        `--data-dir=${join(this.plane.dir, name)}`,
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${url}`,
        `--listen-peer-urls=${peerUrl}`,
        `--initial-advertise-peer-urls=${peerUrl}`,
        `--initial-cluster=${all.map((one) => `${one.name}=${one.peerUrl}`).join(',')}`,
        `--initial-cluster-state=${state}`,
        ...(this.#options.hasOldFlags === true ? [] : ['--unsafe-no-fsync', '--log-level=warn']),
        ...(await this.#tlsFlags(name)),
        ...(this.#options.flags ?? []),
      ],
      env: {},
      url,
      ready: (signal) => isReady(member, signal),
    });
  }

  /** Asks all members that have a place. */
  admin(more: Partial<EtcdAdminOptions> = {}): EtcdAdmin {
    const { tls } = this.#options;
    const endpoints = this.#places.map(({ endpoint }) => endpoint);
    const pem = tls && {
      ca: tls.serverCaPem ?? tls.caPem,
      cert: tls.client.certPem,
      key: tls.client.keyPem,
    };
    const admin = openEtcdAdmin({ endpoints, tls: pem, ...more });
    this.#opened.push(admin);
    return admin;
  }

  at(index: number, more: Partial<EtcdAdminOptions> = {}): EtcdMemberAdmin {
    return this.admin(more).at(this.placeOf(index).endpoint);
  }

  placeOf(index: number): Place {
    const place = this.#places[index];
    if (place === undefined) throw new Error(`there is no member ${index}`);
    return place;
  }

  part(index: number): Part {
    return this.plane.part(this.placeOf(index).name);
  }

  /** The number of the member that leads. */
  async leader(): Promise<number> {
    const { leaderId = '' } = await this.at(0).status();
    for (const [index] of this.#places.entries()) {
      if ((await this.at(index).status()).header.memberId === leaderId) return index;
    }
    throw new Error('nobody leads');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async stop(): Promise<void> {
    for (const admin of this.#opened) await admin.close();
    await this.plane.stop();
  }

  async #tlsFlags(name: string): Promise<readonly string[]> {
    const { tls } = this.#options;
    if (tls === undefined) return [];
    const dir = join(this.plane.dir, `${name}-tls`);
    await mkdir(dir);
    const { certPem, keyPem } = tls.certificate(nameOnNetwork(name));
    const files = { 'ca.crt': tls.caPem, 'tls.crt': certPem, 'tls.key': keyPem };
    for (const [file, pem] of Object.entries(files)) await writeFile(join(dir, file), pem);
    return [
      `--cert-file=${join(dir, 'tls.crt')}`,
      `--key-file=${join(dir, 'tls.key')}`,
      `--trusted-ca-file=${join(dir, 'ca.crt')}`,
      '--client-cert-auth',
    ];
  }
}

/** As a pod's, which is dialled by its address. */
const nameOnNetwork = (name: string): string => `${name}.etcd.default.svc`;
