// Kustomizations are read in their order, and one that does not say everything is refused.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readKustomization } from '../../../knative/try/local/manifests/documents.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'ballast-documents-'));
});

afterEach(async () => {
  await rm(root, { recursive: true });
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
}

const kustomization = (lines: string): string =>
  `apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n${lines}\n`;

test('documents come in the order of the kustomization, folders included', async () => {
  await write({
    'kustomization.yaml': kustomization('resources: [b.yaml, more, a.yaml]'),
    'a.yaml': 'n: 4',
    'b.yaml': 'n: 1\n---\nn: 2',
    'more/kustomization.yaml': kustomization('resources: [c.yaml]'),
    'more/c.yaml': 'n: 3',
  });
  expect(await readKustomization(root, root)).toEqual([
    { file: 'b.yaml', value: { n: 1 } },
    { file: 'b.yaml', value: { n: 2 } },
    { file: 'more/c.yaml', value: { n: 3 } },
    { file: 'a.yaml', value: { n: 4 } },
  ]);
});

test('components come last, and settings are a ConfigMap without the hash', async () => {
  await write({
    'kustomization.yaml': kustomization('resources: [a.yaml]\ncomponents: [settings]'),
    'a.yaml': 'n: 1',
    'settings/kustomization.yaml': `
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
configMapGenerator:
  - { name: s, namespace: ns, envs: [s.env], options: { labels: { a: b } } }
configurations: [names.yaml]
`,
    'settings/names.yaml': 'nameReference: []',
    'settings/s.env': '# Where.\nA=http://a:1?b=c\n\nB=\n',
  });
  const metadata = { name: 's', namespace: 'ns', labels: { a: 'b' } };
  const data = { A: 'http://a:1?b=c', B: '' };
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  expect(await readKustomization(root, root)).toEqual([
    { file: 'a.yaml', value: { n: 1 } },
    { file: 'settings/kustomization.yaml', value: map },
  ]);
});

const generated = (lines: string): string =>
  `configMapGenerator: [{ name: s, namespace: n, ${lines} }]`;

test.each([
  ['a file that it does not list', { 'x.yaml': 'n: 1' }, 'resources: []', 'does not list x.yaml'],
  ['a file that is not there', {}, 'resources: [y.yaml]', 'resources[0] names y.yaml'],
  ['patches', {}, 'patches: []', 'patches is not carried'],
  ['settings that are not there', {}, generated('envs: [x.env]'), 'names x.env'],
  ['settings from literals', {}, generated('literals: [A=b]'), 'literals is not carried'],
  [
    'settings that are no lines of NAME=value',
    { 'x.env': 'A: b' },
    generated('envs: [x.env]'),
    'a line that is not NAME=value: A: b',
  ],
  [
    'a file that is no YAML',
    { 'x.yaml': 'a: [' },
    'resources: [x.yaml]',
    'x.yaml: the file is not YAML',
  ],
])('a kustomization with %s is refused', async (_name, files, lines, words) => {
  await write({ 'kustomization.yaml': kustomization(lines), ...files });
  await expect(readKustomization(root, root)).rejects.toThrow(words);
});

test('a folder without a kustomization is refused', async () => {
  await expect(readKustomization(root, root)).rejects.toThrow('kustomization.yaml');
});
