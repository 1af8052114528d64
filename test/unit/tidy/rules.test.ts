// Shows that each tidy rule can fail: a bad sample for every one, and the nearest good one beside
// it.

import { describe, expect, test } from 'vitest';
import { callRules } from '../../tidy/call-rules.ts';
import { importRules } from '../../tidy/import-rules.ts';
import { packageRules } from '../../tidy/package-rules.ts';
import { describeFindings } from '../../tidy/rule.ts';
import { makeSource } from '../../tidy/sources.ts';
import { textRules } from '../../tidy/text-rules.ts';

const rules = [...textRules, ...callRules, ...importRules, ...packageRules];

type Files = Readonly<Record<string, string>>;

function check(name: string, files: Files): string[] {
  const rule = rules.find((candidate) => candidate.name === name);
  if (rule === undefined) throw new Error(`There is no tidy rule called ${name}.`);
  const sources = Object.entries(files).map(([path, text]) => makeSource(path, text));
  return rule.check(sources).map(({ path, line }) => `${path}:${line}`);
}

interface Sample {
  readonly rule: string;
  readonly case: string;
  readonly bad: Files;
  readonly at: string;
  readonly good: Files;
}

const file = (path: string, text: string): Files => ({ [path]: text });
const home = ['', 'home', 'somebody', 'ballast'].join('/');
const host = ['registry', 'packages', 'org'].join('.');
const long = `// ${'x'.repeat(98)}`;
const manyLines = 'f();\n'.repeat(50);
const sleep = (resolver: string): string =>
  `await new Promise((done) => setTimeout(${resolver}, 50));`;
const manifest = (packages: object): Files => file('package.json', JSON.stringify(packages));

const lock = (packages: object): Files => file('package-lock.json', JSON.stringify({ packages }));
const native = { 'node_modules/tool': { optionalDependencies: { 'tool-linux': '1' } } };

const samples: readonly Sample[] = [
  {
    rule: 'line-length',
    case: 'a line of 101 columns',
    bad: file('shared/a.ts', `\n${long}`),
    at: 'shared/a.ts:2',
    good: file('shared/a.ts', `${long.slice(0, -1)}\n${long} https://example.org`),
  },
  {
    rule: 'file-header',
    case: 'code before any comment',
    bad: file('shared/a.ts', "import 'node:fs';\n// Too late."),
    at: 'shared/a.ts:1',
    good: { 'shared/a.ts': '// Owns it.', '.ci/run': '#!/usr/bin/env bash\n# Runs it.' },
  },
  {
    rule: 'machine-path',
    case: 'a path under one person’s home',
    bad: file('docs/a.md', `Look in ${home}.`),
    at: 'docs/a.md:1',
    good: file('docs/a.md', 'GET /api/v1/pods, ~/.kube/config'),
  },
  {
    rule: 'registry-host',
    case: 'the host of a package registry',
    bad: file('.npmrc', `\nregistry=https://${host}/`),
    at: '.npmrc:2',
    good: file('a.yaml', 'image: registry.k8s.io/pause'),
  },
  {
    rule: 'plain-comment',
    case: 'a comment that begins with Of',
    bad: file('functions/locate/a.ts', '// Owns it.\n/** Of texts that are looked up. */'),
    at: 'functions/locate/a.ts:2',
    good: file('functions/locate/a.ts', '// Bounds a text. It says of what.\nf("Of");'),
  },
  {
    rule: 'plain-comment',
    case: 'a comment of a test that begins with Who',
    bad: file('test/unit/a.test.ts', '// Owns it. Who asks is told.'),
    at: 'test/unit/a.test.ts:1',
    good: file('test/unit/a.test.ts', '// Owns it. A caller that asks is told.'),
  },
  {
    rule: 'environment',
    case: 'process.env outside the config',
    bad: file('functions/a/observe.ts', "f(process.env['PORT']);"),
    at: 'functions/a/observe.ts:1',
    good: file('shared/function/config.ts', "f(process.env['PORT']);"),
  },
  {
    rule: 'user',
    case: 'the user by name',
    bad: file('test/a.ts', 'const { uid } = userInfo();'),
    at: 'test/a.ts:1',
    good: file('test/a.ts', 'const uid = userId();'),
  },
  {
    rule: 'environment',
    case: 'env imported from node:process',
    bad: file('shared/a.ts', "import { env } from 'node:process';"),
    at: 'shared/a.ts:1',
    good: file('test/a.ts', "import { env } from 'node:process';"),
  },
  {
    rule: 'clock',
    case: 'Date.now in a function',
    bad: file('functions/a/decide.ts', 'f();\nf(Date.now());'),
    at: 'functions/a/decide.ts:2',
    good: file('functions/a/decide.ts', 'f(clock.nowMs());'),
  },
  {
    rule: 'clock',
    case: 'setTimeout in shared',
    bad: file('shared/a.ts', 'setTimeout(f, 1);'),
    at: 'shared/a.ts:1',
    good: file('shared/clock.ts', 'setTimeout(f, 1);'),
  },
  {
    rule: 'arguments',
    case: "a command that shows the advice of Node's parser",
    bad: file('knative/try/local/a.ts', 'parseArgs({ options });'),
    at: 'knative/try/local/a.ts:1',
    good: file('shared/arguments.ts', 'parseArgs({ options });'),
  },
  {
    rule: 'process-exit',
    case: 'an exit in the middle',
    bad: file('shared/kube/a.ts', 'process.exit(1);'),
    at: 'shared/kube/a.ts:1',
    good: file('knative/try/local/start.ts', 'process.exit(1);'),
  },
  {
    rule: 'fixed-sleep',
    case: 'a promise made of a timer',
    bad: file('test/unit/a.test.ts', sleep('done')),
    at: 'test/unit/a.test.ts:1',
    good: file('test/unit/a.test.ts', sleep('() => server.close()')),
  },
  {
    rule: 'fixed-sleep',
    case: 'the timers that are promises already',
    bad: file('test/unit/a.test.ts', "import { setTimeout } from 'node:timers/promises';"),
    at: 'test/unit/a.test.ts:1',
    good: file('test/unit/a.test.ts', "import { setImmediate } from 'node:timers';"),
  },
  {
    rule: 'test-length',
    case: 'a test of 52 lines',
    bad: file('test/unit/a.test.ts', `test('a', () => {\n${manyLines}});`),
    at: 'test/unit/a.test.ts:1',
    good: file('test/unit/a.test.ts', `describe('a', () => {\n${manyLines}});`),
  },
  {
    rule: 'import-direction',
    case: 'a function that imports its sibling',
    bad: file('functions/a/index.ts', "import { x } from '../b/steps.ts';"),
    at: 'functions/a/index.ts:1',
    good: file('functions/a/index.ts', "import { x } from '../../shared/nats/stream.ts';"),
  },
  {
    rule: 'import-direction',
    case: 'a client that imports another',
    bad: file('shared/kube/a.ts', "import { x } from '../nats/stream.ts';"),
    at: 'shared/kube/a.ts:1',
    good: file('shared/kube/a.ts', "import { x } from '../clock.ts';"),
  },
  {
    rule: 'import-direction',
    case: 'a piece for all stateful servers that knows one of them',
    bad: file('shared/stateful/a.ts', "import { x } from '../nats/stream.ts';"),
    at: 'shared/stateful/a.ts:1',
    good: file('shared/stateful/a.ts', "import { x } from '../kube/client.ts';"),
  },
  {
    rule: 'import-direction',
    case: 'a client that imports what is made of it',
    bad: file('shared/kube/a.ts', "import { x } from '../stateful/pods.ts';"),
    at: 'shared/kube/a.ts:1',
    good: file('functions/a/index.ts', "import { x } from '../../shared/stateful/pods.ts';"),
  },
  {
    rule: 'import-direction',
    case: 'a product that imports its tests',
    bad: file('shared/a.ts', "const x = await import('../test/x.ts');"),
    at: 'shared/a.ts:1',
    good: file('test/x.ts', "const x = await import('../knative/try/local/x.ts');"),
  },
  {
    rule: 'import-direction',
    case: 'a product that imports the names of test projects',
    bad: file('knative/a.ts', "import { lanes } from '../test/lanes.ts';"),
    at: 'knative/a.ts:1',
    good: file('vitest.config.ts', "import { lanes } from './test/lanes.ts';"),
  },
  {
    rule: 'one-owner',
    case: 'NATS from inside a function',
    bad: file('functions/a/steps.ts', "import { connect } from 'nats';"),
    at: 'functions/a/steps.ts:1',
    good: file('shared/nats/connection.ts', "import { connect } from 'nats';"),
  },
  {
    rule: 'no-barrel',
    case: 'a name passed on',
    bad: file('shared/a.ts', "\nexport { x } from './b.ts';"),
    at: 'shared/a.ts:2',
    good: file('functions/a/index.ts', 'export const x = 1;'),
  },
  {
    rule: 'no-barrel',
    case: 'an index in shared',
    bad: file('shared/kube/index.ts', 'export const x = 1;'),
    at: 'shared/kube/index.ts:1',
    good: file('shared/kube/objects.ts', 'export const x = 1;'),
  },
  {
    rule: 'import-circle',
    case: 'a type that comes from the file that imports it',
    bad: {
      'shared/a.ts': "// Owns it.\nimport type { C } from './c.ts';",
      'shared/b.ts': "import type { A } from './a.ts';",
      'shared/c.ts': "import './b.ts';",
    },
    at: 'shared/a.ts:2',
    good: {
      'shared/a.ts': "import type { B } from './b.ts';\nimport './c.ts';",
      'shared/b.ts': "import './c.ts';",
    },
  },
  {
    rule: 'dead-export',
    case: 'a value nobody imports',
    bad: { 'shared/a.ts': '\nexport const x = 1;', 'shared/b.ts': "import { y } from './a.ts';" },
    at: 'shared/a.ts:2',
    good: {
      'shared/a.ts': 'export const x = 1;\nexport const y = 2;',
      'shared/b.ts': "import { x } from './a.ts';\nconst { y } = await import('./a.ts');",
    },
  },
  {
    rule: 'dead-export',
    case: 'a type nobody mentions',
    bad: file('shared/a.ts', 'export interface X {}'),
    at: 'shared/a.ts:1',
    good: file('functions/a/index.ts', 'export interface X {}\nexport const x: X = {};'),
  },
  {
    rule: 'used-package',
    case: 'a dependency without a user',
    bad: manifest({ dependencies: { nats: '2' } }),
    at: 'package.json:1',
    good: {
      ...manifest({ dependencies: { nats: '2' }, scripts: { lint: 'oxlint' } }),
      'shared/nats/a.ts': "import { connect } from 'nats/deep';",
    },
  },
  {
    rule: 'explained-package',
    case: 'a dependency without a reason',
    bad: manifest({ devDependencies: { vitest: '5' } }),
    at: 'package.json:1',
    good: {
      ...manifest({ devDependencies: { vitest: '5' } }),
      'docs/dependencies.md': '| `vitest` | runs the tests |',
    },
  },
  {
    rule: 'declared-package',
    case: 'a package that only came along',
    bad: { ...manifest({}), 'test/a.ts': "import { parse } from 'vite';" },
    at: 'test/a.ts:1',
    good: { ...manifest({ devDependencies: { vite: '1' } }), 'test/a.ts': "import 'vite';" },
  },
  {
    rule: 'declared-package',
    case: 'a development package in what ships',
    bad: { ...manifest({ devDependencies: { croner: '1' } }), 'shared/a.ts': "import 'croner';" },
    at: 'shared/a.ts:1',
    good: { ...manifest({ dependencies: { croner: '1' } }), 'shared/a.ts': "import 'croner';" },
  },
  {
    rule: 'whole-lock',
    case: 'a lock file without the binary of a platform',
    bad: lock(native),
    at: 'package-lock.json:1',
    good: lock({ ...native, 'node_modules/tool/node_modules/tool-linux': {} }),
  },
];

describe.each(samples)('$rule', (sample) => {
  test(`finds ${sample.case}`, () => {
    expect(check(sample.rule, sample.bad)).toEqual([sample.at]);
  });

  test(`lets pass what only resembles ${sample.case}`, () => {
    expect(check(sample.rule, sample.good)).toEqual([]);
  });
});

test('every rule has a bad sample', () => {
  const shown = new Set(samples.map((sample) => sample.rule));
  expect(rules.map((rule) => rule.name).filter((name) => !shown.has(name))).toEqual([]);
});

test('a finding names the rule, the reason, the place and what to do', () => {
  const [rule] = textRules;
  if (rule === undefined) throw new Error('There is no rule.');
  const text = describeFindings(rule, rule.check([makeSource('shared/a.ts', long)]));
  expect(text).toMatch(/^line-length, because .+:\nshared\/a\.ts:1 .*break the line/);
});
