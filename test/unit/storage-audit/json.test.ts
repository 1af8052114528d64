// Every JSON answer of the command follows docs/storage-audit.schema.json, errors too; and the page
// for people shows no name that would draw on the terminal.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runAudit } from '../../../functions/storage-audit/command.ts';
import { writeBoltFile } from '../../builders/bolt-file.ts';

const SCHEMA = new URL('../../../docs/storage-audit.schema.json', import.meta.url);
const validate = new Ajv({ strict: true, allErrors: true }).compile<Answer>(
  JSON.parse(readFileSync(SCHEMA, 'utf8')),
);

interface Answer {
  readonly outcome: string;
  readonly verdicts?: readonly { readonly resource: string; readonly outcome: string }[];
  readonly rows?: readonly { readonly resource: string; readonly apiVersion?: string }[];
  readonly warnings?: readonly string[];
  readonly error?: { readonly code: string };
}

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'audit-json-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const crd = (plural: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  spec: {
    group: 'example.com',
    names: { plural },
    versions: [{ name: 'v1alpha1' }, { name: 'v1', storage: true }],
  },
});
const object = (apiVersion: string, more = {}) => ({ apiVersion, kind: 'Kind', metadata: more });
const entry = { apiVersion: 'example.com/v1alpha1', manager: 'm', operation: 'Apply' };
const crdKey = (plural: string): string =>
  `apiextensions.k8s.io/customresourcedefinitions/${plural}.example.com`;

const VALUES: Readonly<Record<string, unknown>> = {
  [crdKey('olds')]: crd('olds'),
  [crdKey('news')]: crd('news'),
  [crdKey('hiddens')]: crd('hiddens'),
  'example.com/olds/web/a': object('example.com/v1alpha1'),
  'example.com/news/web/a': object('example.com/v1', { managedFields: [entry] }),
  'example.com/hiddens/web/a': 'k8s:enc:aescbc:v1:key1:xyz',
  'pods/web/a': 'rubbish',
  'pods/web/\u001B[2Jb\nNothing is stored in an old version.\u202E\u009B': object('v1'),
};

function snapshot(name: string, values = VALUES): string {
  const path = join(dir, name);
  const records = Object.entries(values).map(([key, value], index) => ({
    main: 2n ** 60n + BigInt(index),
    key: `/registry/${key}`,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  }));
  writeBoltFile(path, [{ main: 5, key: 'elsewhere', value: 'x' }, ...records]);
  return path;
}

async function run(...args: readonly string[]) {
  const said = { out: '', err: '' };
  const out = (text: string): void => void (said.out += text);
  const err = (text: string): void => void (said.err += text);
  const code = await runAudit(args, { out, err, isWatched: false });
  return { code, ...said };
}

async function answerOf(...args: readonly string[]) {
  const { code, out, err } = await run(...args, '--json');
  const answer: unknown = JSON.parse(out);
  const isValid = validate(answer);
  expect(validate.errors ?? []).toEqual([]);
  if (!isValid) throw new Error('not as the schema says');
  return { code, err, answer };
}

describe('JSON is as its schema says', () => {
  test('of everything that a snapshot can hold', async () => {
    const { code, answer } = await answerOf(snapshot('all.db'));
    expect([code, answer.outcome]).toEqual([1, 'old']);
    expect(answer.verdicts?.map(({ resource, outcome }) => [resource, outcome])).toEqual([
      ['hiddens', 'unknown'],
      ['news', 'clean'],
      ['olds', 'old'],
    ]);
    const versions = answer.rows?.map(({ apiVersion }) => apiVersion);
    expect(versions).toContain('example.com/v1alpha1');
    expect(answer).toMatchObject({ of: { revision: String(2n ** 60n + 7n) } });
  });

  test('and a version that managedFields name is a warning, with a way out', async () => {
    const path = snapshot('named.db', {
      [crdKey('news')]: crd('news'),
      'example.com/news/web/a': object('example.com/v1', { managedFields: [entry] }),
    });
    const { code, answer } = await answerOf(path);
    expect([code, answer.outcome]).toEqual([0, 'clean']);
    expect(answer.warnings).toEqual([
      'news.example.com: v1alpha1 may not be removed yet: nothing is stored in it, but the ' +
        'managedFields of 1 object names it, such as web/a, and no server-side apply on these ' +
        'succeeds without it. Set served: false, then a StorageMigration with ' +
        'cleanManagedFields takes it out of them.',
    ]);
    expect((await run(path)).out).toContain('\nBefore a version is removed:\n- news.example.com: ');
  });

  test.each([
    ['QUERY_INVALID', () => ['--nosuch']],
    ['QUERY_INVALID', () => ['a', 'b']],
    ['SNAPSHOT_DAMAGED', () => [join(dir, 'absent.db')]],
    ['SNAPSHOT_DAMAGED', () => [broken()]],
  ])('of an error: %s', async (code, args) => {
    const found = await answerOf(...args());
    expect([found.code, found.err, found.answer.error?.code]).toEqual([2, '', code]);
  });
});

function broken(): string {
  const path = join(dir, 'broken.db');
  writeFileSync(path, 'x'.repeat(5_000));
  return path;
}

test('names that hold controls draw on no terminal, and begin no line of their own', async () => {
  const path = snapshot('drawing.db');
  const { out } = await run(path);
  expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(out).toContain('web/\\u001b[2Jb\\u000aNothing is stored');
  expect(out.split('\n')).not.toContain('Nothing is stored in an old version.');
  const { out: json } = await run(path, '--json');
  expect(json.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(json).not.toContain('\\\\u001b');
  const { err } = await run(join(dir, '\u001B[2J'));
  expect(err).toContain('\\u001b[2J cannot be opened');
});
