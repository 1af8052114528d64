// Our kinds as they are defined in both versions, and what the API server does to an object of one
// by its schema: fields that nobody knows go, and defaults come.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { Fields } from '../../shared/kube/own-kinds/part.ts';
import { betaOf } from '../../knative/tools/versions/served.ts';
import { isRecord } from '../../shared/kube/json.ts';

const CRDS = fileURLToPath(new URL('../../knative/crds/', import.meta.url));

export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly format?: string;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

export interface OwnKind {
  readonly kind: string;
  readonly v1alpha1: Schema;
  readonly v1beta1: Schema;
}

interface Definition {
  readonly spec: {
    readonly names: { readonly kind: string };
    readonly versions: readonly [Version];
  };
}

type Version = { readonly schema: { readonly openAPIV3Schema: Schema } };

export const OWN_KINDS: readonly OwnKind[] = readdirSync(CRDS)
  .filter((name) => name !== 'kustomization.yaml')
  .map((name) => {
    const definition: Record<string, unknown> = parse(readFileSync(`${CRDS}${name}`, 'utf8'));
    const { names, versions } = (definition as unknown as Definition).spec;
    const beta = betaOf(definition) as unknown as Version;
    const [alpha] = versions;
    return {
      kind: names.kind,
      v1alpha1: alpha.schema.openAPIV3Schema,
      v1beta1: beta.schema.openAPIV3Schema,
    };
  });

/** As the API server has it after reading it. */
export function asRead(schema: Schema, object: Fields): Fields {
  const { apiVersion, kind, metadata, ...rest } = object;
  const read = trimmed(schema, rest);
  return { apiVersion, kind, metadata, ...(isRecord(read) ? read : {}) };
}

function trimmed(schema: Schema, value: unknown): unknown {
  const { properties = {}, items, additionalProperties } = schema;
  if (Array.isArray(value)) {
    return items === undefined ? value : value.map((item: unknown) => trimmed(items, item));
  }
  if (!isRecord(value)) return value;
  const keepsAll = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const known = Object.entries(value).flatMap(([name, field]) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (own !== undefined) return [[name, trimmed(own, field)]];
    return keepsAll ? [[name, field]] : [];
  });
  const defaults = Object.entries(properties).flatMap(([name, one]) =>
    one.default !== undefined && !Object.hasOwn(value, name)
      ? [[name, trimmed(one, one.default)]]
      : [],
  );
  return Object.fromEntries([...known, ...defaults]);
}
