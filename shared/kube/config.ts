// Where the API server and our credentials are found: a kubeconfig that somebody named, else the
// service account that Kubernetes mounted, else the kubeconfig of the person at the keyboard.
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

// Not imported: that evaluates all that node:fs exports, which takes 3 ms of each start.
const { existsSync } = process.getBuiltinModule('node:fs');

export interface ServiceAccountFiles {
  readonly server: string;
  /** Holds `token` and `ca.crt`. */
  readonly dir: string;
}

export type AccessSource =
  | { readonly kubeconfigPaths: readonly string[] }
  | { readonly serviceAccount: ServiceAccountFiles };

const SERVICE_ACCOUNT_DIR = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Unlike kubectl, the mounted service account comes before ~/.kube/config: an image may carry one
 * by mistake.
 */
export function findAccessSource(): AccessSource {
  const {
    KUBECONFIG = '',
    KUBERNETES_SERVICE_HOST: host = '',
    KUBERNETES_SERVICE_PORT: port = '443',
  } = process.env;
  const named = KUBECONFIG.split(delimiter).filter((path) => path !== '');
  if (named.length > 0) return { kubeconfigPaths: named };
  if (host !== '' && existsSync(join(SERVICE_ACCOUNT_DIR, 'token'))) {
    const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
    return { serviceAccount: { server, dir: SERVICE_ACCOUNT_DIR } };
  }
  return { kubeconfigPaths: [join(homedir(), '.kube', 'config')] };
}

/** Ours, as a kubeconfig's exec plugin expects to find it, and what the kubeconfig adds to it. */
export function pluginEnvironment(
  added: readonly Readonly<Record<string, unknown>>[],
): NodeJS.ProcessEnv {
  const names = added.map(({ name, value }) => [String(name), String(value)]);
  return { ...process.env, ...Object.fromEntries(names) };
}
