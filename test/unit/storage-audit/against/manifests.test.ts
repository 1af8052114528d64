// Where new definitions are read from, and what is refused with a reason.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { readCrds } from '../../../../functions/storage-audit/against/manifests.ts';
import { crdManifest } from '../../../builders/crd-shape.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'manifests-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const crd = (plural: string) =>
  crdManifest({
    group: 'example.com',
    plural,
    kind: plural,
    versions: [{ name: 'v1', storage: true, schema: { type: 'object' } }],
  });

/** Each file by its path below a directory of its own. */
function filesOf(name: string, files: Readonly<Record<string, string>>): string {
  const top = join(dir, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(top, path, '..'), { recursive: true });
    writeFileSync(join(top, path), text);
  }
  return top;
}

const read = async (paths: readonly string[], stdin = '') =>
  (await readCrds(paths, Readable.from([stdin]))).map(({ name }) => name);

test('a rendering has many documents, and only definitions count', async () => {
  const other = stringify({ kind: 'ConfigMap', data: { text: 'kind: CustomResourceDefinition' } });
  const bad = 'kind: Deployment\nthis: [is no YAML\n';
  const list = stringify({ kind: 'List', apiVersion: 'v1', items: [crd('c'), { kind: 'Pod' }] });
  const text = ['# top', other, bad, stringify(crd('b')), list, JSON.stringify(crd('a')), ''];
  expect(await read(['-'], text.join('\n---\n'))).toEqual(
    ['a', 'b', 'c'].map((plural) => `${plural}.example.com`),
  );
});

test('a directory is read with those below it, and only what ends as such files do', async () => {
  const top = filesOf('plain', {
    'b.yaml': stringify(crd('b')),
    'below/a.json': JSON.stringify(crd('a')),
    'README.md': stringify(crd('c')),
    '.hidden.yaml': stringify(crd('d')),
  });
  expect(await read([top])).toEqual(['a.example.com', 'b.example.com']);
});

const v1beta1 = { ...crd('a'), apiVersion: 'apiextensions.k8s.io/v1beta1' };
const versionless = { ...crd('a'), spec: { ...(crd('a')['spec'] as object), versions: [] } };

test.each([
  ['nothing', 'CRDS_ABSENT', '', 'There is no CustomResourceDefinition in standard input.'],
  ['another kind', 'CRDS_ABSENT', stringify({ kind: 'Pod' }), 'Name files that have the new ones.'],
  ['an old API', 'CRDS_UNREADABLE', stringify(v1beta1), 'no API server takes it since Kubernetes'],
  ['no version', 'CRDS_UNREADABLE', stringify(versionless), 'not one version with storage: true'],
  ['half a document', 'CRDS_UNREADABLE', 'kind: CustomResourceDefinition\na: [', 'is no YAML ('],
  [
    'the same twice',
    'CRDS_UNREADABLE',
    [stringify(crd('a')), stringify(crd('a'))].join('---\n'),
    'standard input (document 2) has a.example.com, and so has standard input',
  ],
])('%s is refused as %s', async (_, code, text, words) => {
  const refusal = read(['-'], text);
  await expect(refusal).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
});

test.each([
  ['kustomization.yaml', 'kubectl kustomize'],
  ['Chart.yaml', 'helm template --include-crds'],
])('a directory with a %s is refused with the command that renders it', async (name, command) => {
  const top = filesOf(`with-${name}`, { [name]: '', 'crd.yaml': stringify(crd('a')) });
  await expect(read([top])).rejects.toThrow(`${command} ${top} | npm run -s audit -- --against -`);
});

test('a file that is not there is named', async () => {
  const path = join(dir, 'absent.yaml');
  await expect(read([path])).rejects.toMatchObject({ code: 'CRDS_UNREADABLE', object: path });
});
