// Gives each function and adapter the identity of its service account: a short-lived token from the
// TokenRequest API in a file that is renewed, and a kubeconfig that names the file.
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { writeKubeconfig } from '../plane/kubeconfig.ts';
import type { Plane } from '../plane/plane.ts';

interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** Where files may be written, and how the API server is reached and known. */
type Reached = Pick<Plane, 'dir' | 'caPath' | 'urlFor'>;

/** The shortest life that a cluster's default settings give is an hour. */
const TOKEN_SECONDS = 3_600;
/**
 * Often enough that several renewals may fail in a row, and that a laptop may sleep for a while.
 */
const RENEW_EVERY_MS = (TOKEN_SECONDS / 12) * 1_000;

const SERVICE_ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' } as const;

export class ServiceAccounts {
  readonly #kube: KubeClient;
  readonly #plane: Reached;
  readonly #onError: (error: unknown) => void;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(kube: KubeClient, plane: Reached, onError: (error: unknown) => void) {
    this.#kube = kube;
    this.#plane = plane;
    this.#onError = onError;
  }

  /**
   * Writes a kubeconfig with which the part `client` is this account, and keeps its token fresh.
   */
  async kubeconfigFor(client: string, account: Account): Promise<string> {
    const dir = join(this.#plane.dir, 'clients', client.replaceAll('/', '-'));
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const tokenFile = join(dir, 'token');
    await this.#renew(account, tokenFile);
    const renew = (): void => void this.#renew(account, tokenFile).catch(this.#onError);
    this.#timers.push(setInterval(renew, RENEW_EVERY_MS));
    const path = join(dir, 'kubeconfig');
    await writeKubeconfig(path, {
      server: await this.#plane.urlFor(client, 'kube-apiserver'),
      ca: { path: this.#plane.caPath },
      user: `${account.namespace}/${account.name}`,
      credential: { tokenFile },
    });
    return path;
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  async #renew({ namespace, name }: Account, tokenFile: string): Promise<void> {
    const answer = await this.#kube.createSubresource(
      SERVICE_ACCOUNTS,
      { namespace, name, subresource: 'token' },
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: TOKEN_SECONDS },
      },
    );
    // A reader must never meet half a token.
    await writeFile(`${tokenFile}.new`, tokenOf(answer), { mode: 0o600 });
    await rename(`${tokenFile}.new`, tokenFile);
  }
}

function tokenOf({ status }: Readonly<Record<string, unknown>>): string {
  const isToken = typeof status === 'object' && status !== null && 'token' in status;
  if (isToken && typeof status.token === 'string') return status.token;
  throw new Error('the API server answered a TokenRequest without a token');
}
