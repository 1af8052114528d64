// Upgrades of the corpus on a real API server: their past is lived, and whether they were safe is
// seen by applying them.
import { lostFields } from '../../../functions/storage-audit/against/lost.ts';
import { dataOf } from '../../../functions/storage-audit/against/schema-on-server.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import { type CrdShape, crdManifest } from '../../builders/crd-shape.ts';
import { type Upgrade } from '../../builders/upgrade-corpus.ts';
import { until } from '../../builders/versioned-kind.ts';

export const crdName = ({ crd: { plural, group } }: Upgrade): string => `${plural}.${group}`;

const storageOf = ({ versions }: CrdShape) => versions.find(({ storage }) => storage === true);

const RELEASED = 'release';

/** As the project ships it. */
export const releaseOf = ({ crd, release }: Upgrade): Manifest =>
  crdManifest(marked({ ...crd, ...release }, RELEASED));

/** With a default by which it can be seen that the definition has taken effect. */
function marked(shape: CrdShape, mark: string): CrdShape {
  const versions = shape.versions.map((version) => {
    const own = version.schema['properties'] as object;
    const properties = { ...own, mark: { type: 'string', default: mark } };
    return { ...version, schema: { ...version.schema, properties } };
  });
  return { ...shape, versions };
}

export class UpgradeWorld {
  readonly #kube: KubeClient;

  constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  /** Applies each definition of the past and writes what was written then. */
  async live(upgrade: Upgrade): Promise<void> {
    const { history, objects, storedVersions } = upgrade;
    for (const [at, past] of history.entries()) {
      const shape = await this.#define({ ...upgrade.crd, ...past }, `past-${at}`);
      for (const { name, version, data, ...one } of objects) {
        if ((one.at ?? 0) === at) await this.#write(shape, version, name, data);
      }
    }
    if (storedVersions === undefined) return;
    const target = { name: crdName(upgrade), subresource: 'status' };
    await this.#kube.patch(CRDS, target, { type: 'merge', body: { status: { storedVersions } } });
  }

  /** Applies the release and looks what became of it and of the objects. */
  async verdictSeen(upgrade: Upgrade): Promise<string> {
    const last = { ...upgrade.crd, ...upgrade.history.at(-1) };
    const before: { readonly object: KubeObject; readonly isTaken: boolean }[] = [];
    for (const object of await this.#objects(upgrade, last)) {
      before.push({ object, isTaken: await this.#isTaken(last, object) });
    }
    const release = { ...upgrade.crd, ...upgrade.release };
    try {
      await this.#define(release, RELEASED);
      const now = new Map(
        (await this.#objects(upgrade, release)).map((one) => [one.metadata.name, one]),
      );
      for (const { object, isTaken } of before) {
        const after = now.get(object.metadata.name);
        if (after === undefined || lostFields(dataOf(object), dataOf(after)).length > 0) {
          return 'unsafe-objects';
        }
        if (isTaken && !(await this.#isTaken(release, after))) return 'unsafe-objects';
      }
      return 'safe';
    } catch (error) {
      if (isKubeError(error, 'KUBE_INVALID')) return 'unsafe';
      // An object cannot be read, or not be converted.
      if (isKubeError(error, 'KUBE_UNAVAILABLE')) return 'unsafe-objects';
      throw error;
    }
  }

  /** Returns when it has taken effect. */
  async #define(shape: CrdShape, mark: string): Promise<CrdShape> {
    const manifest = crdManifest(marked(shape, mark));
    const { object, isNew } = await this.#kube.create(CRDS, manifest);
    if (!isNew) {
      const { resourceVersion } = object.metadata;
      const metadata = { ...manifest.metadata, resourceVersion };
      await this.#kube.update(CRDS, { ...manifest, metadata });
    }
    const version = storageOf(shape)?.name ?? '';
    // An object without data breaks no rule of theirs.
    const probe = this.#manifest(shape, version, 'probe', {});
    await until(`${manifest.metadata.name} to be ${mark}`, async () => {
      try {
        const created = await this.#kube.create(refOf(shape, version), probe, { dryRun: true });
        return created.object['mark'] === mark;
      } catch (error) {
        if (isKubeError(error, 'KUBE_NOT_FOUND')) return false;
        throw error;
      }
    });
    return shape;
  }

  async #write(shape: CrdShape, version: string, name: string, data: object): Promise<KubeObject> {
    const { status, ...rest } = { status: undefined, ...data };
    const ref = refOf(shape, version);
    const { object } = await this.#kube.create(ref, this.#manifest(shape, version, name, rest));
    if (status === undefined) return object;
    return this.#kube.update(ref, { ...object, status }, { subresource: 'status' });
  }

  /** Whether the same may be written once more, status and all. */
  async #isTaken(shape: CrdShape, object: KubeObject): Promise<boolean> {
    const version = storageOf(shape)?.name ?? '';
    const name = `${object.metadata.name}-again`;
    try {
      await this.#write(shape, version, name, dataOf(object));
      return true;
    } catch (error) {
      if (isKubeError(error, 'KUBE_INVALID')) return false;
      throw error;
    } finally {
      const because = 'this is its only writer';
      const place = { namespace: 'default', name };
      await this.#kube.delete(refOf(shape, version), place, { precondition: 'none', because });
    }
  }

  /** Each by itself: the API server has no list ready for a moment after a change. */
  #objects({ objects }: Upgrade, shape: CrdShape): Promise<readonly KubeObject[]> {
    const ref = refOf(shape, storageOf(shape)?.name ?? '');
    return Promise.all(
      objects.map(async ({ name }) => {
        const found = await this.#kube.get(ref, { namespace: 'default', name }, { isOnce: true });
        if (found === null) throw new Error(`${name} is gone`);
        return found;
      }),
    );
  }

  #manifest({ group, kind }: CrdShape, version: string, name: string, data: object): Manifest {
    const metadata = { name, namespace: 'default' };
    return { ...data, apiVersion: `${group}/${version}`, kind, metadata };
  }
}

const refOf = ({ group, plural }: CrdShape, version: string): ResourceRef => ({
  group,
  version,
  resource: plural,
});
