// kubeconfig files for the people and parts of a plane: a server, the CA that signed it, and a
// token.
import { writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';

export interface KubeconfigOptions {
  readonly server: string;
  readonly caPath: string;
  readonly user: string;
  /** Either the token itself or a file that is read again when it is rotated. */
  readonly credential: { readonly token: string } | { readonly tokenFile: string };
}

export async function writeKubeconfig(path: string, options: KubeconfigOptions): Promise<void> {
  const { server, caPath, user, credential } = options;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'local',
    clusters: [{ name: 'local', cluster: { server, 'certificate-authority': caPath } }],
    users: [{ name: user, user: credential }],
    contexts: [{ name: 'local', context: { cluster: 'local', user } }],
  };
  await writeFile(path, stringify(config), { mode: 0o600 });
}
