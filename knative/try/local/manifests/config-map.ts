// ConfigMaps as the manifests use them: generated from files of `NAME=value` lines, and looked up
// where a container's environment names a key. The hash that kustomize puts behind a generated name
// is left out: nothing here is rolled out.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Document, Fields } from './fields.ts';
import type { ObjectName, Texts } from './wiring.ts';

/** By `namespace/name`. */
export type ConfigMaps = ReadonlyMap<string, Texts>;

/** The value of a variable: itself, or where it stands. */
export type EnvValue = string | ConfigMapKey;

interface ConfigMapKey {
  readonly configMap: string;
  readonly key: string;
  readonly field: Fields;
}

export async function generateConfigMap(fields: Fields, dir: string): Promise<Document> {
  const metadata: ObjectName = { name: fields.text('name'), namespace: fields.text('namespace') };
  const options = fields.optionalObject('options');
  const labels = options?.textMap('labels') ?? {};
  options?.end();
  const data: Record<string, string> = {};
  for (const env of fields.texts('envs')) {
    const text = await readFile(join(dir, env), 'utf8').catch((cause: unknown) => {
      throw fields.error('envs', `names ${env}, which cannot be read`, cause);
    });
    for (const [name, value] of linesOf(text, fields)) data[name] = value;
  }
  fields.end();
  const value = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, labels }, data };
  return { file: fields.file, value };
}

function linesOf(text: string, fields: Fields): readonly (readonly [string, string])[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name, value] = /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) return [name, value];
    throw fields.error('envs', `hold a line that is not NAME=value: ${line}`);
  });
}

/** `entry` is one of a container's `env`. */
export function readEnvValue(entry: Fields): EnvValue {
  const from = entry.optionalObject('valueFrom');
  if (from === undefined) return entry.has('value') ? entry.anyText('value') : '';
  const ref = from.object('configMapKeyRef');
  const found = { configMap: ref.text('name'), key: ref.text('key'), field: ref };
  for (const fields of [ref, from]) fields.end();
  return found;
}

export function resolveEnv(
  env: Readonly<Record<string, EnvValue>>,
  namespace: string,
  maps: ConfigMaps,
): Texts {
  const entries = Object.entries(env).map(([name, value]) => {
    if (typeof value === 'string') return [name, value] as const;
    const { configMap, key, field } = value;
    const found = maps.get(`${namespace}/${configMap}`)?.[key];
    if (found === undefined) throw field.error('key', `is ${key}, which no ConfigMap here has`);
    return [name, found] as const;
  });
  return Object.fromEntries(entries);
}
