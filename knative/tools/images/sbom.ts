// The bill of materials of a function's image, in CycloneDX 1.6: every npm package with code in the
// bundle, Node with what is linked into it, and the machine's libraries. No time and no serial
// number, so that the same image has the same bill.
import type { Image } from './image.ts';
import type { NpmPackage, SystemPackage } from './installed.ts';

export interface Contents {
  readonly version: string;
  readonly nodeVersion: string;
  /** The hash of the program itself, as it lies in the image. */
  readonly nodeSha256: string;
  /** Name and version. */
  readonly insideNode: readonly (readonly [string, string])[];
  readonly npm: readonly NpmPackage[];
  readonly system: readonly SystemPackage[];
}

interface Component {
  readonly type: 'container' | 'application' | 'library';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly [more: string]: unknown;
}

export function billOf(image: Image, contents: Contents): object {
  const itself = imageComponent(image, contents.version);
  const node = nodeComponent(contents);
  const packages = contents.npm.map((npm) => npmComponent(npm));
  const system = contents.system.map((part) => systemComponent(part));
  const refs = (components: readonly Component[]): string[] =>
    components.map((each) => each['bom-ref']);
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: itself },
    components: [node, ...packages, ...system],
    dependencies: [
      { ref: itself['bom-ref'], dependsOn: refs([node, ...packages]) },
      { ref: node['bom-ref'], dependsOn: refs(system) },
    ],
  };
}

function imageComponent({ name, digest }: Image, version: string): Component {
  const repository = name.slice(0, name.lastIndexOf(':'));
  const short = repository.slice(repository.lastIndexOf('/') + 1);
  const query = `repository_url=${encodeURIComponent(repository)}`;
  return component('container', short, version, {
    purl: `pkg:oci/${short}@${encodeURIComponent(digest)}?${query}`,
    hashes: [{ alg: 'SHA-256', content: digest.slice('sha256:'.length) }],
  });
}

function nodeComponent({ nodeVersion, nodeSha256, insideNode }: Contents): Component {
  const inside = insideNode.map(([name, version]) =>
    component('library', name, version, { purl: generic(name, version) }),
  );
  return component('application', 'node', nodeVersion, {
    purl: generic('node', nodeVersion),
    hashes: [{ alg: 'SHA-256', content: nodeSha256 }],
    licenses: licensesOf('MIT'),
    components: inside,
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
