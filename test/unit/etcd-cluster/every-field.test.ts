// An edit of any field of an EtcdCluster is rolled out, or refused with a reason: the definition is
// walked, so a field that nobody carries out has no row here and fails. A field that the API server
// refuses to change has the rule that says so; each other edit is seen to be carried out.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { isRecord } from '../../../shared/kube/json.ts';
import { memory } from './memory-samples.ts';
import { type Edited, FIELDS, mostlyFree } from './model/field-edits.ts';
import { shown } from './rows.ts';
import { type Differences, state } from './samples.ts';

interface Rule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

const FILE = new URL('../../../knative/crds/etcd-cluster.yaml', import.meta.url);
const definition = parse(readFileSync(FILE, 'utf8')) as {
  readonly spec: {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
};
const root = definition.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec'] ?? {};

/** The paths of all fields that hold a value, and the rules that stand beside each. */
function fieldsIn(schema: Schema, path = '', rules: readonly Rule[] = []): Map<string, Rule[]> {
  const own = schema['x-kubernetes-validations'] ?? [];
  if (schema.items !== undefined) return fieldsIn(schema.items, `${path}[]`, own);
  if (schema.properties === undefined) return new Map([[path, [...rules, ...own]]]);
  const found = Object.entries(schema.properties).flatMap(([name, below]) => {
    const beside = own.filter(({ fieldPath }) => fieldPath === `.${name}`);
    return [...fieldsIn(below, path === '' ? name : `${path}.${name}`, beside)];
  });
  return new Map(found);
}

const FOUND = fieldsIn(root);
const EACH_ONCE = [0, 1, 2].map((ordinal) => `delete pods etcd-${ordinal}-0`);
const EDITS = Object.entries(FIELDS).flatMap(([field, how]) =>
  how === 'refused' ? [] : [[field, how] as const],
);
const REFUSED = Object.entries(FIELDS).flatMap(([field, how]) => (how === 'refused' ? field : []));

test('each field of the definition is carried out or refused', () => {
  expect(Object.keys(FIELDS).toSorted()).toEqual([...FOUND.keys()].toSorted());
});

test.each(REFUSED)('another %s is refused with a reason', (field) => {
  const leaf = field.slice(field.lastIndexOf('.') + 1);
  const rules = FOUND.get(field)?.filter(({ rule }) => rule.includes(`oldSelf.${leaf}`)) ?? [];
  expect(rules.map(({ message }) => message.length > 30)).toEqual([true]);
});

test.each(EDITS)('another %s is carried out', async (_, { from, edit, ...how }: Edited) => {
  const run = (await from()).copy();
  const before = run.writes.length;
  run.edit(edit);
  await run.idle();
  const writes = run.writes.slice(before);
  expect(how.isDone(run, writes)).toBe(true);
  // One that joins gets another pod before it votes.
  const restarted = writes.filter((one) => EACH_ONCE.includes(one)).toSorted();
  expect(restarted).toEqual(how.restarts === true ? EACH_ONCE : []);
});

function merged(one: unknown, other: unknown): unknown {
  if (!isRecord(one) || !isRecord(other)) return other;
  const now = Object.entries(other).map(([key, value]) => [key, merged(one[key], value)]);
  return { ...one, ...Object.fromEntries(now) };
}

const ROLLED = EDITS.filter(
  ([field, { restarts }]) => restarts === true || field === 'storage.size',
);

test.each(ROLLED)('another %s of members in memory replaces them', (_, { edit }) => {
  const { cluster, peers } = state(memory());
  const spec = merged(cluster.spec, edit) as Differences['spec'];
  expect(shown(state({ ...memory(), spec: spec ?? {}, peers: () => peers }))).toBe(
    'add-learner: Add etcd-3 in place of etcd-0',
  );
});

test('without an edit of its defragmentation such a database is defragmented', async () => {
  const run = (await mostlyFree()).copy();
  await run.idle();
  expect(run.writes).toContain('etcd defragment');
});
