// The certificates of a legacy cluster with TLS, as the examples of operators have them: one
// authority signs members, clients and the operator. A person has had it sign one for the new
// members.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { type Identity, issue, makeAuthority } from '../../../shared/x509.ts';

const HOUR_MS = 3_600_000;
/** None is taken over with one that ends within a day. */
const LASTS_MS = 48 * HOUR_MS;
export interface ClientTls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

type Texts = Readonly<Record<string, string>>;

/** How an operator has it: the names of Services, and of Secrets and what is in them. */
export interface TlsLayout {
  readonly service: string;
  readonly headless: string;
  /** Members know each other by what clients know them by. */
  readonly isOfPeers: boolean;
  /** The spec of the legacy object, as far as it is about TLS. */
  readonly spec: object;
  readonly secrets: (members: ClientTls, client: ClientTls) => Readonly<Record<string, Texts>>;
}

const GIVEN = 'new-tls';

export class LegacyTls {
  /** The spec of the new EtcdCluster. */
  readonly into = { tls: { clients: { secretName: GIVEN } } };
  readonly #namespace: string;
  readonly #layout: TlsLayout;
  readonly #authority: Identity;
  readonly #server: Identity;
  readonly #client: Identity;
  readonly #given: Identity;

  constructor(namespace: string, ips: readonly string[], layout: TlsLayout) {
    this.#namespace = namespace;
    this.#layout = layout;
    const nowMs = Date.now();
    const validity = { fromMs: nowMs - HOUR_MS, toMs: nowMs + LASTS_MS };
    this.#authority = makeAuthority('etcd', validity);
    const sign = (...hosts: readonly string[]) => issue(this.#authority, { hosts }, validity);
    const client = `${layout.service}.${namespace}.svc`;
    this.#server = sign(`*.${layout.headless}.${namespace}.svc`, client, 'localhost', ...ips);
    this.#client = sign();
    this.#given = sign(client, `old-2.${namespace}.svc`, `*.old-2-headless.${namespace}.svc`);
  }

  get client(): ClientTls {
    return this.#shown(this.#client);
  }

  get spec(): object {
    return this.#layout.spec;
  }

  #shown({ certPem: cert, keyPem: key }: Identity): ClientTls {
    return { ca: this.#authority.certPem, cert, key };
  }

  get #texts(): Readonly<Record<string, Texts>> {
    const { ca, cert, key } = this.#shown(this.#given);
    return {
      ...this.#layout.secrets(this.#shown(this.#server), this.client),
      [GIVEN]: { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca },
    };
  }

  get secretNames(): readonly string[] {
    return Object.keys(this.#texts);
  }

  secrets(): readonly Manifest[] {
    return Object.entries(this.#texts).map(([name, stringData]) => {
      const metadata = { namespace: this.#namespace, name };
      return { apiVersion: 'v1', kind: 'Secret', metadata, stringData };
    });
  }

  /** As the operator starts a member. */
  async memberFlags(dir: string): Promise<readonly string[]> {
    await mkdir(dir, { recursive: true });
    const { certPem, keyPem } = this.#server;
    const files = { 'ca.crt': this.#authority.certPem, 'tls.crt': certPem, 'tls.key': keyPem };
    for (const [file, pem] of Object.entries(files)) await writeFile(join(dir, file), pem);
    return (this.#layout.isOfPeers ? ['', 'peer-'] : ['']).flatMap((whom) => [
      `--${whom}cert-file=${join(dir, 'tls.crt')}`,
      `--${whom}key-file=${join(dir, 'tls.key')}`,
      `--${whom}trusted-ca-file=${join(dir, 'ca.crt')}`,
      `--${whom}client-cert-auth`,
    ]);
  }
}
