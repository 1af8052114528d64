// kube-apiserver with RBAC on. Clients verify its serving certificate; service account tokens are
// signed with a key made per plane.
import { generateKeyPairSync } from 'node:crypto';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SERVERNAME } from '../../../../shared/kube/servers.ts';
import type { PartSpec } from '../process/part.ts';
import type { Identity } from '../../../../shared/x509.ts';
import { Authority } from './authority.ts';
import { answers } from './probe.ts';

export interface ApiServerOptions {
  readonly binary: string;
  /** Several that share it have one certificate, and take each other's tokens. */
  readonly dir: string;
  /** `kube-apiserver` when absent. */
  readonly name?: string | undefined;
  /** An address of loopback; 127.0.0.1 when absent. */
  readonly address?: string | undefined;
  readonly port: number;
  readonly etcdUrl: string;
  /** Go's GOGC: at 50 it holds 40 MB less than at 100, and uses a fifth more CPU. */
  readonly goGcPercent?: number | undefined;
  readonly moreFlags?: readonly string[] | undefined;
  /** With nodes and pods; absent for one that only its own machine's processes use. */
  readonly cluster?: ClusterApi;
}

/** Settings for a whole cluster that an API server on loopback does without. */
export interface ClusterApi {
  /** Where nodes, pods and people reach it. */
  readonly address: string;
  readonly serviceCidr: string;
  /** The first of them: the Service `kubernetes`. */
  readonly serviceAddress: string;
  /** Signs its clients; its own certificate and the one it shows to kubelets are in `dir/certs`. */
  readonly authority: Authority;
}

export interface StaticUser {
  readonly token: string;
  readonly name: string;
  readonly groups: readonly string[];
}

/** The certificate of an API server on loopback, with that of its authority behind it. */
const servingPath = (dir: string): string => join(dir, 'certs', 'apiserver');
export const caPath = (dir: string): string => `${servingPath(dir)}.crt`;
export const clusterCaPath = (dir: string): string => join(dir, 'certs', 'ca.crt');
export const serviceAccountKeyPath = (dir: string): string => join(dir, 'service-account.key');
const tokensPath = (dir: string): string => join(dir, 'tokens.csv');

const SERVICE_CIDR = '10.96.0.0/16';
/** The first of them: the Service `kubernetes`. */
const SERVICE_ADDRESS = '10.96.0.1';
const NAMES = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];

/**
 * Writes what the API server reads at its start. Without a serving certificate it would make one of
 * its own at each start, with RSA keys: a sixth of the CPU of its start.
 */
export async function prepareApiServer(dir: string, users: readonly StaticUser[]): Promise<void> {
  await prepareKeys(dir);
  const authority = new Authority('ballast-local');
  const hosts = ['127.0.0.1', 'localhost', SERVICE_ADDRESS, ...NAMES];
  const { certPem, keyPem } = authority.issue({ commonName: 'kube-apiserver', hosts });
  await writeIdentity(servingPath(dir), { certPem: certPem + authority.certPem, keyPem });
  const rows = users.map(
    (user) => `${user.token},${user.name},${user.name},"${user.groups.join(',')}"`,
  );
  await writeFile(tokensPath(dir), `${rows.join('\n')}\n`, { mode: 0o600 });
}

/** Prepares a whole cluster: beside the keys, the certificates that its authority signs. */
export async function prepareClusterApi(dir: string, cluster: ClusterApi): Promise<void> {
  await prepareKeys(dir);
  const { address, authority, serviceAddress } = cluster;
  const hosts = [address, serviceAddress, '127.0.0.1', 'localhost', ...NAMES];
  const serving = authority.issue({ commonName: 'kube-apiserver', hosts });
  const kubeletClient = authority.issue({
    commonName: 'kube-apiserver-kubelet-client',
    organizations: ['system:masters'],
  });
  await writeFile(clusterCaPath(dir), authority.certPem);
  await writeIdentity(join(dir, 'certs', 'serving'), serving);
  await writeIdentity(join(dir, 'certs', 'kubelet-client'), kubeletClient);
}

/** Keys that a kept directory already has stay valid. */
async function prepareKeys(dir: string): Promise<void> {
  await mkdir(join(dir, 'certs'), { recursive: true });
  if (await isThere(serviceAccountKeyPath(dir))) return;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'sec1', format: 'pem' });
  await writeFile(serviceAccountKeyPath(dir), pem, { mode: 0o600 });
}

/** `path` without its ending: `.crt` and `.key` follow. */
export async function writeIdentity(path: string, { certPem, keyPem }: Identity): Promise<void> {
  await writeFile(`${path}.crt`, certPem);
  await writeFile(`${path}.key`, keyPem, { mode: 0o600 });
}

export function apiServerSpec(options: ApiServerOptions): PartSpec {
  const { name = 'kube-apiserver', address = '127.0.0.1' } = options;
  const { binary, dir, port, etcdUrl, goGcPercent, moreFlags = [], cluster } = options;
  const url = `https://${cluster?.address ?? address}:${port}`;
  return {
    name,
    command: binary,
    args: [
      `--etcd-servers=${etcdUrl}`,
      `--secure-port=${port}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${serviceAccountKeyPath(dir)}`,
      `--service-account-signing-key-file=${serviceAccountKeyPath(dir)}`,
      '--profiling=false',
      ...(cluster === undefined ? loopbackFlags(dir, address) : clusterFlags(dir, cluster)),
      ...moreFlags,
    ],
    env: goGcPercent === undefined ? {} : { GOGC: String(goGcPercent) },
    url,
    ready: (signal) => {
      const ca = cluster === undefined ? caPath(dir) : clusterCaPath(dir);
      return answers(`${url}/readyz`, signal, ca, SERVERNAME);
    },
  };
}

function loopbackFlags(dir: string, address: string): readonly string[] {
  return [
    `--bind-address=${address}`,
    `--tls-cert-file=${servingPath(dir)}.crt`,
    `--tls-private-key-file=${servingPath(dir)}.key`,
    '--authorization-mode=RBAC',
    `--token-auth-file=${tokensPath(dir)}`,
    `--service-cluster-ip-range=${SERVICE_CIDR}`,
    // A Service's endpoints may not be loopback addresses, and nobody here resolves
    // kubernetes.default.
    '--endpoint-reconciler-type=none',
    // No controller makes the `default` service accounts that this plugin would demand of every
    // pod.
    '--disable-admission-plugins=ServiceAccount',
  ];
}

function clusterFlags(dir: string, { address, serviceCidr }: ClusterApi): readonly string[] {
  const cert = (name: string): string => join(dir, 'certs', name);
  return [
    '--bind-address=0.0.0.0',
    `--advertise-address=${address}`,
    `--service-cluster-ip-range=${serviceCidr}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    `--client-ca-file=${clusterCaPath(dir)}`,
    `--tls-cert-file=${cert('serving.crt')}`,
    `--tls-private-key-file=${cert('serving.key')}`,
    `--kubelet-certificate-authority=${clusterCaPath(dir)}`,
    `--kubelet-client-certificate=${cert('kubelet-client.crt')}`,
    `--kubelet-client-key=${cert('kubelet-client.key')}`,
    '--kubelet-preferred-address-types=InternalIP',
    '--allow-privileged=true',
  ];
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
