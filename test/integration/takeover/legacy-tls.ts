// The certificates of a legacy cluster with TLS, as the example of the operator has them: one
// authority signs members, among each other too, clients and the operator. A person has had it sign
// one for the new members.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { type Identity, issue, makeAuthority } from '../../../shared/x509.ts';

const HOUR_MS = 3_600_000;
/** None is taken over with one that ends within a day. */
const LASTS_MS = 48 * HOUR_MS;
const SECRETS = { server: 'etcd-server-tls', operator: 'etcd-client-tls', given: 'new-tls' };

export interface ClientTls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export class LegacyTls {
  /** The spec of the legacy object, as far as it is about TLS. */
  readonly spec = {
    TLS: {
      static: {
        member: { peerSecret: 'etcd-peer-tls', serverSecret: SECRETS.server },
        operatorSecret: SECRETS.operator,
      },
    },
  };
  /** The same of the new EtcdCluster. */
  readonly into = { tls: { clients: { secretName: SECRETS.given } } };
  readonly secretNames = Object.values(SECRETS);
  readonly #namespace: string;
  readonly #authority: Identity;
  readonly #server: Identity;
  readonly #client: Identity;
  readonly #given: Identity;

  constructor(namespace: string, ips: readonly string[]) {
    this.#namespace = namespace;
    const nowMs = Date.now();
    const validity = { fromMs: nowMs - HOUR_MS, toMs: nowMs + LASTS_MS };
    this.#authority = makeAuthority('etcd', validity);
    const sign = (...hosts: readonly string[]) => issue(this.#authority, { hosts }, validity);
    const client = `old-client.${namespace}.svc`;
    this.#server = sign(`*.old.${namespace}.svc`, client, 'localhost', ...ips);
    this.#client = sign();
    this.#given = sign(client, `old-2.${namespace}.svc`, `*.old-2-headless.${namespace}.svc`);
  }

  get client(): ClientTls {
    const { certPem: cert, keyPem: key } = this.#client;
    return { ca: this.#authority.certPem, cert, key };
  }

  secrets(): readonly Manifest[] {
    const { ca, cert, key } = this.client;
    const { certPem: ofServer, keyPem: itsKey } = this.#server;
    const { certPem, keyPem } = this.#given;
    return [
      this.#secret(SECRETS.server, {
        'server.crt': ofServer,
        'server.key': itsKey,
        'server-ca.crt': ca,
      }),
      this.#secret(SECRETS.operator, {
        'etcd-client.crt': cert,
        'etcd-client.key': key,
        'etcd-client-ca.crt': ca,
      }),
      this.#secret(SECRETS.given, { 'tls.crt': certPem, 'tls.key': keyPem, 'ca.crt': ca }),
    ];
  }

  #secret(name: string, stringData: Readonly<Record<string, string>>): Manifest {
    const metadata = { namespace: this.#namespace, name };
    return { apiVersion: 'v1', kind: 'Secret', metadata, stringData };
  }

  /** As the operator starts a member. */
  async memberFlags(dir: string): Promise<readonly string[]> {
    await mkdir(dir, { recursive: true });
    const { certPem, keyPem } = this.#server;
    const files = { 'ca.crt': this.#authority.certPem, 'tls.crt': certPem, 'tls.key': keyPem };
    for (const [file, pem] of Object.entries(files)) await writeFile(join(dir, file), pem);
    return ['', 'peer-'].flatMap((whom) => [
      `--${whom}cert-file=${join(dir, 'tls.crt')}`,
      `--${whom}key-file=${join(dir, 'tls.key')}`,
      `--${whom}trusted-ca-file=${join(dir, 'ca.crt')}`,
      `--${whom}client-cert-auth`,
    ]);
  }
}
