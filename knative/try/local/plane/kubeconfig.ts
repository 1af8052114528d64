// kubeconfig files for the people and parts of a plane: a server, the CA that signed it, and a
// token or a certificate.
import { writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import type { Identity } from '../../../../shared/x509.ts';

export interface KubeconfigOptions {
  readonly server: string;
  /** The server's authority: the path of a file, or text for the kubeconfig. */
  readonly ca: { readonly path: string } | { readonly certPem: string };
  readonly user: string;
  /**
   * The token itself, a file that is read again when it is rotated, or a certificate, which goes
   * into the file.
   */
  readonly credential: { readonly token: string } | { readonly tokenFile: string } | Identity;
}

export async function writeKubeconfig(path: string, options: KubeconfigOptions): Promise<void> {
  const { server, ca, user, credential } = options;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'local',
    clusters: [{ name: 'local', cluster: { server, ...trusting(ca) } }],
    users: [{ name: user, user: 'certPem' in credential ? inline(credential) : credential }],
    contexts: [{ name: 'local', context: { cluster: 'local', user } }],
  };
  await writeFile(path, stringify(config), { mode: 0o600 });
}

const trusting = (ca: KubeconfigOptions['ca']): Readonly<Record<string, string>> =>
  'path' in ca
    ? { 'certificate-authority': ca.path }
    : { 'certificate-authority-data': Buffer.from(ca.certPem).toString('base64') };

const inline = ({ certPem, keyPem }: Identity): Readonly<Record<string, string>> => ({
  'client-certificate-data': Buffer.from(certPem).toString('base64'),
  'client-key-data': Buffer.from(keyPem).toString('base64'),
});
