// The question about an upgrade as the command takes it: what is asked wrongly, and what is
// answered where there is no server to try anything on.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { AgainstAnswer } from '../../../../functions/storage-audit/against/against.ts';
import { runAudit } from '../../../../functions/storage-audit/command.ts';
import { writeBoltFile } from '../../../builders/bolt-file.ts';
import { crdManifest, type CrdShape } from '../../../builders/crd-shape.ts';

const SCHEMA = new URL('../../../../docs/storage-audit.schema.json', import.meta.url);
const validate = new Ajv({ strict: true, allErrors: true }).compile<AgainstAnswer>(
  JSON.parse(readFileSync(SCHEMA, 'utf8')),
);

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'against-command-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const shape = (plural: string, ...names: readonly string[]): CrdShape => ({
  group: 'example.com',
  plural,
  kind: plural.toUpperCase(),
  versions: names.map((name) => ({
    name,
    schema: { type: 'object' },
    storage: name === names.at(-1),
  })),
});
const crdKey = (plural: string): string =>
  `apiextensions.k8s.io/customresourcedefinitions/${plural}.example.com`;
const object = (version: string) => ({
  apiVersion: `example.com/${version}`,
  kind: 'Kind',
  metadata: { name: 'a', namespace: 'web' },
});
const definition = (plural: string, storedVersions: readonly string[]) => ({
  ...crdManifest(shape(plural, 'v1alpha1', 'v1')),
  status: { storedVersions },
});

const VALUES: Readonly<Record<string, unknown>> = {
  'namespaces/web': object('v1'),
  [crdKey('olds')]: definition('olds', ['v1alpha1', 'v1']),
  'example.com/olds/web/a': object('v1alpha1'),
  [crdKey('hiddens')]: definition('hiddens', ['v1']),
  'example.com/hiddens/web/a': 'k8s:enc:aescbc:v1:key1:xyz',
  [crdKey('brokens')]: 'k8s:enc:aescbc:v1:key1:xyz',
};

function snapshot(name: string, values = VALUES, prefix = '/registry'): string {
  const path = join(dir, name);
  const records = Object.entries(values).map(([key, value], index) => ({
    main: index + 2,
    key: `${prefix}/${key}`,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  }));
  writeBoltFile(path, records);
  return path;
}

async function run(text: string, ...args: readonly string[]) {
  const said = { out: '', err: '' };
  const code = await runAudit([...args, '--json'], {
    out: (more) => void (said.out += more),
    err: (more) => void (said.err += more),
    isWatched: false,
    stdin: Readable.from([text]),
  });
  const answer: unknown = JSON.parse(said.out);
  const isValid = validate(answer);
  expect([validate.errors ?? [], said.err]).toEqual([[], '']);
  if (!isValid) throw new Error('not as the schema says');
  return { code, answer };
}

const ask = (text: string, path: string) => run(text, '--against', '-', path);
const upgrade = (...plurals: readonly string[]): string =>
  plurals.map((plural) => stringify(crdManifest(shape(plural, 'v1')))).join('---\n');

test('without a server, what is unsafe is told, and what is not known', async () => {
  const path = snapshot('all.db');
  const { code, answer } = await ask(upgrade('olds', 'hiddens', 'brokens', 'others'), path);
  expect([code, answer.verdict, answer.triedOn]).toEqual([1, 'unsafe', undefined]);
  expect(answer.of).toEqual({ source: path, revision: '7' });
  const told = answer.crds.map(({ name, verdict, reasons }) => [
    name,
    verdict,
    reasons.map(({ what }) => what),
  ]);
  expect(told).toEqual([
    ['brokens.example.com', 'unknown', ['not-checked', 'not-checked']],
    ['hiddens.example.com', 'unknown', ['not-checked', 'not-checked', 'version-removed']],
    ['olds.example.com', 'unsafe', ['version-removed', 'not-checked']],
    ['others.example.com', 'unknown', ['not-checked']],
  ]);
  expect((await ask(upgrade('hiddens'), path)).code).toBe(2);
});

test('a snapshot with its keys elsewhere is no empty cluster', async () => {
  const { code, answer } = await ask(upgrade('olds'), snapshot('blue.db', VALUES, '/blue'));
  expect(code).toBe(2);
  expect(answer).toMatchObject({ outcome: 'unknown', error: { code: 'CRDS_ABSENT' } });
  const named = await run(upgrade('olds'), '--against=-', join(dir, 'blue.db'), '--prefix=/blue');
  expect([named.code, named.answer.verdict]).toEqual([1, 'unsafe']);
});

test.each([
  ['--scratch without it', ['--scratch', 'x', 'y.db'], 'QUERY_INVALID'],
  ['a resource beside it', ['--against', '-', '--resource', 'a.b', 'y.db'], 'QUERY_INVALID'],
  ['no source', ['--against', '-'], 'QUERY_INVALID'],
  ['two sources', ['--against', '-', '--kube', 'y.db'], 'QUERY_INVALID'],
  ['nothing new', ['--against', '-', 'y.db'], 'CRDS_ABSENT'],
  ['a file that is none', ['--against', '/nowhere.yaml', 'y.db'], 'CRDS_UNREADABLE'],
])('asked wrongly, with %s: 2 and %s', async (_, args, expected) => {
  const { code, answer } = await run('', ...args);
  expect(code).toBe(2);
  expect(answer).toMatchObject({ outcome: 'unknown', error: { code: expected } });
});
