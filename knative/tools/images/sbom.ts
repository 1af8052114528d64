// Bills of materials, in CycloneDX 1.6: every npm package with code in a bundle and, where it ships
// Node, that with what is linked into it and the machine's libraries. No time and no serial number,
// so that the same image or file has the same bill.
import type { Image } from './image.ts';
import type { NpmPackage, SystemPackage } from './installed.ts';

export interface Contents {
  readonly npm: readonly NpmPackage[];
  /** Absent where Node is the user's own. */
  readonly node?: NodeContents;
}

export interface NodeContents {
  readonly version: string;
  /** The hash of the program itself, as it was published. */
  readonly sha256: string;
  /** Name and version. */
  readonly inside: readonly (readonly [string, string])[];
  /** The libraries that come with it. */
  readonly system: readonly SystemPackage[];
}

export interface Component {
  readonly type: 'container' | 'application' | 'library';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly [more: string]: unknown;
}

export function billOf(itself: Component, { npm, node }: Contents): object {
  const packages = npm.map((one) => npmComponent(one));
  const own = node === undefined ? [] : [nodeComponent(node)];
  const system = node?.system.map((part) => systemComponent(part)) ?? [];
  const refs = (components: readonly Component[]): string[] =>
    components.map((each) => each['bom-ref']);
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: itself },
    components: [...own, ...packages, ...system],
    dependencies: [
      { ref: itself['bom-ref'], dependsOn: refs([...own, ...packages]) },
      ...own.map((one) => ({ ref: one['bom-ref'], dependsOn: refs(system) })),
    ],
  };
}

export function imageComponent({ name, digest }: Image, version: string): Component {
  const repository = name.slice(0, name.lastIndexOf(':'));
  const short = repository.slice(repository.lastIndexOf('/') + 1);
  const query = `repository_url=${encodeURIComponent(repository)}`;
  return component('container', short, version, {
    purl: `pkg:oci/${short}@${encodeURIComponent(digest)}?${query}`,
    hashes: sha256Of(digest.slice('sha256:'.length)),
  });
}

/** A file that is published, such as an archive. */
export const fileComponent = (
  type: Component['type'],
  name: string,
  version: string,
  sha256: string,
): Component =>
  component(type, name, version, { purl: generic(name, version), hashes: sha256Of(sha256) });

const sha256Of = (content: string): object[] => [{ alg: 'SHA-256', content }];

function nodeComponent({ version, sha256, inside }: NodeContents): Component {
  const components = inside.map(([name, of]) =>
    component('library', name, of, { purl: generic(name, of) }),
  );
  return component('application', 'node', version, {
    purl: generic('node', version),
    hashes: sha256Of(sha256),
    licenses: licensesOf('MIT'),
    components,
  });
}

function npmComponent({ name, version, license, integrity }: NpmPackage): Component {
  return component('library', name, version, {
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license === undefined ? {} : { licenses: licensesOf(license) }),
    ...(integrity === undefined ? {} : { hashes: hashesOf(integrity) }),
  });
}

function systemComponent({ distribution, name, version, architecture }: SystemPackage): Component {
  const [vendor = ''] = distribution.split('-');
  const query = `arch=${architecture}&distro=${distribution}`;
  return component('library', name, version, {
    purl: `pkg:deb/${vendor}/${encodeURIComponent(name)}@${encodeURIComponent(version)}?${query}`,
  });
}

function component(
  type: Component['type'],
  name: string,
  version: string,
  more: { readonly purl: string; readonly [more: string]: unknown },
): Component {
  return { type, 'bom-ref': more.purl, name, version, ...more };
}

const generic = (name: string, version: string): string =>
  `pkg:generic/${name}@${encodeURIComponent(version)}`;

/** `MIT` is the name of a licence, `(MIT OR Apache-2.0)` an expression of several. */
const licensesOf = (license: string): object[] =>
  /^[\w.+-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }];

/** The lock file's way, `sha512-<base64>`, in the way of the bill. */
function hashesOf(integrity: string): object[] {
  const [algorithm = '', base64 = ''] = integrity.split('-');
  const content = Buffer.from(base64, 'base64').toString('hex');
  return [{ alg: algorithm.replace('sha', 'SHA-'), content }];
}
