// Images from their specs: layers, configuration and manifest, the same bits for the same content.
// Layers are not compressed: what gzip makes of them depends on the version of zlib and on the
// machine's instructions, so a digest would say where an image was built and not what is in it.
import { layerOf } from './layer.ts';
import { type Descriptor, writeBlob, writeJsonBlob, writeLayout } from './layout.ts';
import { type ImageSpec, NOBODY_IN_PARTICULAR } from './spec.ts';

export interface Image {
  readonly name: string;
  /** The OCI layout. */
  readonly directory: string;
  /** The digest of the manifest, by which a registry and a kubelet know the image. */
  readonly digest: string;
  readonly sizeBytes: number;
}

const LAYER = 'application/vnd.oci.image.layer.v1.tar';
const CONFIG = 'application/vnd.oci.image.config.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/** When it was made is what must not be in it. */
const CREATED = '1970-01-01T00:00:00Z';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64' };
export const PLATFORM = { architecture: ARCHITECTURES[process.arch] ?? process.arch, os: 'linux' };

/** Replaces the image in `directory`, and refuses when something else is there. */
export async function writeImage(spec: ImageSpec, directory: string): Promise<Image> {
  const written = await writeLayout(directory, (to) => writeInto(to, spec, new Map()));
  return imageOf(spec, directory, written);
}

/** The same for several in one layout, where a layer below that they share is written once. */
export async function writeImages(
  specs: readonly ImageSpec[],
  directory: string,
): Promise<readonly Image[]> {
  const { images } = await writeLayout(directory, async (unfinished) => {
    const layers = new Map<string, Descriptor>();
    const written = { index: new Array<object>(), images: new Array<Image>() };
    for (const spec of specs) {
      const one = await writeInto(unfinished, spec, layers);
      written.index.push(...one.index);
      written.images.push(imageOf(spec, directory, one));
    }
    return written;
  });
  return images;
}

const imageOf = ({ name }: ImageSpec, directory: string, written: Written): Image => ({
  name,
  directory,
  digest: written.digest,
  sizeBytes: written.sizeBytes,
});

interface Written {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly index: readonly object[];
}

/** `bases` are the layers below that this layout has already. */
async function writeInto(
  unfinished: string,
  spec: ImageSpec,
  bases: Map<string, Descriptor>,
): Promise<Written> {
  const tag = tagOf(spec.name);
  const layers: Descriptor[] = [];
  if (spec.base !== undefined) {
    const key = JSON.stringify(spec.base);
    const base = bases.get(key) ?? (await writeBlob(unfinished, LAYER, layerOf(spec.base)));
    bases.set(key, base);
    layers.push(base);
  }
  layers.push(await writeBlob(unfinished, LAYER, layerOf(spec.files)));
  const config = await writeJsonBlob(unfinished, CONFIG, configOf(spec, layers));
  const body = { schemaVersion: 2, mediaType: MANIFEST, config, layers };
  const manifest = await writeJsonBlob(unfinished, MANIFEST, body);
  const annotations = {
    'io.containerd.image.name': spec.name,
    'org.opencontainers.image.ref.name': tag,
  };
  const sizes = [manifest, config, ...layers].map(({ size }) => size);
  return {
    digest: manifest.digest,
    sizeBytes: sizes.reduce((sum, size) => sum + size, 0),
    index: [{ ...manifest, platform: PLATFORM, annotations }],
  };
}

function configOf(spec: ImageSpec, layers: readonly Descriptor[]): object {
  const { entrypoint, arguments: args, env = {}, workingDir, labels } = spec;
  return {
    created: CREATED,
    ...PLATFORM,
    config: {
      User: spec.user ?? NOBODY_IN_PARTICULAR,
      Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      Entrypoint: entrypoint,
      ...(args === undefined ? {} : { Cmd: args }),
      WorkingDir: workingDir ?? '/',
      ...(labels === undefined ? {} : { Labels: labels }),
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
  };
}

function tagOf(name: string): string {
  const tag = /^[a-z0-9][a-z0-9.:/_-]*:([A-Za-z0-9_][\w.-]{0,127})$/.exec(name)?.[1];
  if (tag !== undefined) return tag;
  throw new Error(`${name} is no name of an image: write repository:tag, in lower case.`);
}
