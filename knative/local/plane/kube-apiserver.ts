// kube-apiserver with RBAC on. It makes its own serving certificate, which clients verify; service
// account tokens are signed with a key made per plane.
import { generateKeyPairSync } from 'node:crypto';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SERVERNAME } from '../../../shared/kube/servers.ts';
import type { PartSpec } from '../process/part.ts';
import { answers } from './probe.ts';

export interface ApiServerOptions {
  readonly binary: string;
  /** Several that share it have one certificate, and take each other's tokens. */
  readonly dir: string;
  /** `kube-apiserver` when absent. */
  readonly name?: string | undefined;
  /** Of loopback; 127.0.0.1 when absent. */
  readonly address?: string | undefined;
  readonly port: number;
  readonly etcdUrl: string;
  /** Go's GOGC: at 50 it holds 40 MB less than at 100, and uses a fifth more CPU. */
  readonly goGcPercent?: number | undefined;
  readonly moreFlags?: readonly string[] | undefined;
}

export interface StaticUser {
  readonly token: string;
  readonly name: string;
  readonly groups: readonly string[];
}

export const caPath = (dir: string): string => join(dir, 'certs', 'apiserver.crt');
const keyPath = (dir: string): string => join(dir, 'service-account.key');
const tokensPath = (dir: string): string => join(dir, 'tokens.csv');

/**
 * Writes what the API server reads at its start; keys that a kept directory already has stay valid.
 */
export async function prepareApiServer(dir: string, users: readonly StaticUser[]): Promise<void> {
  await mkdir(join(dir, 'certs'), { recursive: true });
  if (!(await isThere(keyPath(dir)))) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ type: 'sec1', format: 'pem' });
    await writeFile(keyPath(dir), pem, { mode: 0o600 });
  }
  const rows = users.map(
    (user) => `${user.token},${user.name},${user.name},"${user.groups.join(',')}"`,
  );
  await writeFile(tokensPath(dir), `${rows.join('\n')}\n`, { mode: 0o600 });
}

export function apiServerSpec(options: ApiServerOptions): PartSpec {
  const { name = 'kube-apiserver', address = '127.0.0.1' } = options;
  const { binary, dir, port, etcdUrl, goGcPercent, moreFlags = [] } = options;
  const url = `https://${address}:${port}`;
  return {
    name,
    command: binary,
    args: [
      `--etcd-servers=${etcdUrl}`,
      `--bind-address=${address}`,
      `--secure-port=${port}`,
      `--cert-dir=${join(dir, 'certs')}`,
      '--authorization-mode=RBAC',
      `--token-auth-file=${tokensPath(dir)}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${keyPath(dir)}`,
      `--service-account-signing-key-file=${keyPath(dir)}`,
      '--service-cluster-ip-range=10.96.0.0/16',
      // A Service's endpoints may not be loopback addresses, and nobody here resolves
      // kubernetes.default.
      '--endpoint-reconciler-type=none',
      // No controller makes the `default` service accounts that this plugin would demand of every
      // pod.
      '--disable-admission-plugins=ServiceAccount',
      '--profiling=false',
      ...moreFlags,
    ],
    env: goGcPercent === undefined ? {} : { GOGC: String(goGcPercent) },
    url,
    ready: (signal) => answers(`${url}/readyz`, signal, caPath(dir), SERVERNAME),
  };
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
