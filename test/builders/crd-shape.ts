// A definition of a kind as a test says it: its names, its versions and their schemas.
import type { Manifest } from '../../shared/kube/objects.ts';

export type Schema = Readonly<Record<string, unknown>>;

export interface VersionShape {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly schema: Schema;
}

export interface CrdShape {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly scope?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly versions: readonly VersionShape[];
  readonly conversion?: object;
}

export const crdManifest = (shape: CrdShape): Manifest => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${shape.plural}.${shape.group}`,
    ...(shape.annotations === undefined ? {} : { annotations: shape.annotations }),
  },
  spec: {
    group: shape.group,
    scope: shape.scope ?? 'Namespaced',
    names: { plural: shape.plural, kind: shape.kind },
    ...(shape.conversion === undefined ? {} : { conversion: shape.conversion }),
    versions: shape.versions.map(({ name, served = true, storage = false, schema }) => ({
      name,
      served,
      storage,
      subresources: { status: {} },
      schema: { openAPIV3Schema: schema },
    })),
  },
});
