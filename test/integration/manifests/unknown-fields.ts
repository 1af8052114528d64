// Fields of an object that the schema of its kind does not name. Stricter than the API server,
// which lets everything through where Knative's schemas preserve what they do not know.
import type { Manifest } from '../../../shared/kube/objects.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
}

interface Definition {
  readonly group: string;
  readonly names: { readonly kind: string };
  readonly versions: readonly {
    readonly name: string;
    readonly schema: { readonly openAPIV3Schema: Schema };
  }[];
}

/** Undefined when no definition is about the object. */
export function unknownFields(
  object: Manifest,
  definitions: readonly Manifest[],
): readonly string[] | undefined {
  for (const { spec } of definitions) {
    const { group, names, versions } = spec as Definition;
    const version = versions.find(({ name }) => `${group}/${name}` === object.apiVersion);
    if (names.kind !== object.kind || version === undefined) continue;
    const { spec: fields } = version.schema.openAPIV3Schema.properties ?? {};
    if (fields === undefined) throw new Error(`the schema of ${object.kind} has no spec`);
    return unknownIn(object['spec'], fields, 'spec');
  }
  return undefined;
}

function unknownIn(value: unknown, schema: Schema, path: string): readonly string[] {
  if (Array.isArray(value)) {
    const { items = {} } = schema;
    return value.flatMap((one, index) => unknownIn(one, items, `${path}[${index}]`));
  }
  const { properties, additionalProperties } = schema;
  // A schema that names nothing leaves everything to the webhook.
  if (typeof value !== 'object' || value === null || properties === undefined) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const known = properties[name] ?? additionalProperties;
    if (known === undefined || known === false) return [`${path}.${name}`];
    return known === true ? [] : unknownIn(inner, known, `${path}.${name}`);
  });
}
