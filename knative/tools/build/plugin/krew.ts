// The manifest by which krew, the manager of kubectl's plugins, installs kubectl ballast. Pure.
import { PROGRAM } from './bundle.ts';

export interface Published {
  /** As krew and Go call them. */
  readonly os: 'linux';
  readonly arch: 'amd64' | 'arm64';
  /** Where it can be had. */
  readonly uri: string;
  readonly sha256: string;
}

export const krewManifest = (version: string, archives: readonly Published[]): object => ({
  apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
  kind: 'Plugin',
  metadata: { name: 'ballast' },
  spec: {
    version: `v${version}`,
    shortDescription: 'Audit, migrate and back up a control plane',
    description: DESCRIPTION,
    platforms: archives.map(({ os, arch, uri, sha256 }) => ({
      selector: { matchLabels: { os, arch } },
      uri,
      sha256,
      bin: PROGRAM,
      files: [{ from: '*', to: '.' }],
    })),
  },
});

const DESCRIPTION = [
  'The commands of Ballast that people run against a cluster: what is stored in which version of',
  'its kind, whether an upgrade of CRDs may be applied, what to apply to migrate a kind, checked',
  "backups of an etcd, the rights of Ballast's functions, and what a reader of its feed holds.",
].join(' ');
