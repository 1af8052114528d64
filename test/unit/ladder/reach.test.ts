// Small repositories, and what is known to be reached in them: too much rather than too little.

import { expect, test } from 'vitest';
import { Reach } from '../../ladder/reach/reach.ts';

const TEST = 'test/unit/a.test.ts';

/** All but the test itself, in a repository with these files and a few more. */
function reached(text: string, files: Readonly<Record<string, string>> = {}): readonly string[] {
  const all = {
    'README.md': '',
    'docs/a.md': '',
    'functions/one/index.ts': "import './decide.ts';",
    'functions/one/decide.ts': '',
    'functions/two/index.ts': '',
    'knative/crds/a.yaml': '',
    'knative/kustomization.yaml': 'resources: [crds/a.yaml]',
    'knative/tools/a.ts': "import './b.ts';",
    'knative/tools/b.ts': '',
    'shared/c.ts': '',
    'test/fixtures/d.json': '',
    'test/fixtures/e.json': '',
    ...files,
    [TEST]: text,
  };
  const content = Object.entries(all).map(([path, one]) => {
    return [path, { bytes: Buffer.from(one), hash: '', stamp: '' }] as const;
  });
  return [...new Reach(new Map(content)).of([TEST])].filter((path) => path !== TEST).toSorted();
}

const TOOL = ['knative/tools/a.ts', 'knative/tools/b.ts'];
const FIXTURES = ['test/fixtures/d.json', 'test/fixtures/e.json'];
const MANIFESTS = ['knative/crds/a.yaml', 'knative/kustomization.yaml'];

test.each([
  ['an import', "import '../../knative/tools/a.ts';", TOOL],
  ['an import later on', "const load = () => import('../../knative/tools/a.ts');", TOOL],
  ['an export of it all', "export * from '../../knative/tools/a.ts';", TOOL],
  ['types', "import type { A } from '../../knative/tools/a.ts';", []],
  ['one type among others', "import { a, type B } from '../../knative/tools/a.ts';", TOOL],
  ['a package', "import { a } from 'shared/c.ts';", []],
])('a module is reached by %s', (_how, text, expected) => {
  expect(reached(text)).toEqual(expected);
});

test.each([
  ['from the top', "spawn('node', ['knative/tools/a.ts']);", TOOL],
  ['among other words', 'run("node ./knative/tools/a.ts --help");', TOOL],
  ['beside this file', "fork(join(import.meta.dirname, '../../knative/tools/a.ts'));", TOOL],
  ['as a URL', "new Worker(new URL('../../knative/tools/a.ts', import.meta.url));", TOOL],
  ['resolved', "const a = `${import.meta.resolve('../../knative/tools/a.ts')}`; f(a);", TOOL],
])('a program is reached when it is named %s', (_how, text, expected) => {
  expect(reached(text)).toEqual(expected);
});

test.each([
  ['a part that nobody knows', 'read(join(import.meta.dirname, `../fixtures/${name}.json`));'],
  ['one of two', "const name = f ? 'd' : other; read(`test/fixtures/${name}.json`);"],
  ['an argument', 'const at = (name) => join(import.meta.dirname, "../fixtures", name); at(x);'],
  [
    'a name that is also a known one',
    "const n = 'd.json'; const at = (n) => join(import.meta.dirname, '../fixtures', n);",
  ],
  ['a variable that changes', "let n = 'd'; n = f(); read(`test/fixtures/${n}.json`);"],
  ['a folder alone', "list(resolve(import.meta.dirname, '../fixtures'));"],
  [
    'a folder that is handed on',
    "const dir = new URL('../fixtures/', import.meta.url); f({ dir });",
  ],
  ['a folder that it was handed', "const at = (root, name) => join(root, 'test/fixtures', name);"],
])('all that may be meant is reached by a path with %s', (_how, text) => {
  expect(reached(text)).toEqual(FIXTURES);
});

test('a path counts where it is used, also in another module', () => {
  const files = {
    'test/place.ts': 'export const HERE = import.meta.dirname;',
    'test/other.ts': "import { HERE } from './place.ts'; export const DIR = `${HERE}/fixtures`;",
  };
  const uses = "import { DIR as D } from '../other.ts'; read(join(D, 'd.json'));";
  const modules = ['test/other.ts', 'test/place.ts'];
  expect(reached(uses, files)).toEqual(['test/fixtures/d.json', ...modules]);
});

test('whoever names the top reaches everything, unless a program is started there', () => {
  const top = "const top = resolve(import.meta.dirname, '../..');";
  expect(reached(`${top} walk(top);`)).toContain('README.md');
  expect(reached(`${top} walk(join(top, name));`)).toContain('README.md');
  expect(reached(`${top} walk(join(top, name, '../x'));`)).toContain('README.md');
  expect(reached(`${top} spawn('node', ['knative/tools/a.ts'], { cwd: top });`)).toEqual(TOOL);
});

test('a kustomization and the settings of the compiler reach what they name', () => {
  const kustomized = "apply('knative/kustomization.yaml');";
  expect(reached(kustomized)).toEqual(MANIFESTS);
  const settings = { 'knative/tools/tsconfig.json': '{"files": ["../../shared/c.ts"]}' };
  const compiled = "tsc('knative/tools/tsconfig.json');";
  expect(reached(compiled, settings)).toEqual(['knative/tools/tsconfig.json', 'shared/c.ts']);
});

test('the folder of manifests is read for these, and not for the tools beside them', () => {
  const text = "load(join(import.meta.dirname, '../../knative'));";
  expect(reached(text)).toEqual(MANIFESTS);
});

const START = {
  'test/start.ts': "export const start = (name) => run(join(R, 'functions', name));",
};
const ONE = ['functions/one/decide.ts', 'functions/one/index.ts', 'test/start.ts'];

test('a function that is started by its name is reached by who says the name', () => {
  expect(reached("import { start } from '../start.ts'; start('one');", START)).toEqual(ONE);
  const names = { ...START, 'test/names.ts': "export const NAMES = ['one'];" };
  const text = "import { start } from '../start.ts'; import { NAMES } from '../names.ts';";
  expect(reached(text, names)).toEqual([...ONE.slice(0, 2), 'test/names.ts', 'test/start.ts']);
});

test('a name that is said elsewhere is no function', () => {
  const files = { ...START, 'shared/c.ts': "import './d.ts';", 'shared/d.ts': "const A = 'one';" };
  const text = "import { start } from '../start.ts'; import '../../shared/c.ts';";
  expect(reached(text, files)).toEqual(['shared/c.ts', 'shared/d.ts', 'test/start.ts']);
});

test('people are sent to a page by who does not read it, and a test reads the one it names', () => {
  expect(reached("fail('see docs/a.md');")).toEqual([]);
  expect(reached("read('docs/a.md');")).toEqual(['docs/a.md']);
  const files = { 'shared/c.ts': "export const PAGE = 'docs/a.md';" };
  expect(reached("import '../../shared/c.ts';", files)).toEqual(['shared/c.ts']);
});

test('another test is never reached', () => {
  expect(reached("f('test/unit/b.test.ts');", { 'test/unit/b.test.ts': '' })).toEqual([]);
});
