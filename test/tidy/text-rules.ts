// Tidy rules that read a file as text: its lines, its header, and words that must not be in it.

import { homedir } from 'node:os';
import { extname, resolve } from 'node:path';
import type { Rule } from './rule.ts';
import { perFile } from './rule.ts';

const maxColumns: Readonly<Record<string, number>> = {
  '.ts': 100,
  '.json': 160,
  '.md': 180,
  '': 120,
};

const lineLength: Rule = {
  name: 'line-length',
  reason: 'two files side by side, and a diff in a review, should fit on a screen',
  check: perFile(function* ({ path, lines }) {
    const max = maxColumns[extname(path)];
    if (max === undefined || path === 'package-lock.json') return;
    for (const [index, line] of lines.entries()) {
      if (line.length <= max || /https?:\/\//.test(line)) continue;
      const message = `has ${line.length} columns; break the line before ${max}.`;
      yield { line: index + 1, message };
    }
  }),
};

const header: Rule = {
  name: 'file-header',
  reason: 'a reader should know what a file owns and promises before reading it',
  check: perFile(function* ({ path, lines }) {
    const isScript = lines[0]?.startsWith('#!') ?? false;
    if (extname(path) !== '.ts' && !isScript) return;
    const first = lines[isScript ? 1 : 0] ?? '';
    if (/^(\/\/|#) \S/.test(first) || first.startsWith('/*')) return;
    yield { line: 1, message: 'start the file with one to three sentences of comment.' };
  }),
};

const repository = resolve(import.meta.dirname, '../..');
const usersDirectory = /(?<![\w.])\/(?:home|Users|root)\/[\w.-]+/;

const machinePath: Rule = {
  name: 'machine-path',
  reason: 'the path exists on one machine only',
  check: perFile(function* ({ path, lines }) {
    if (path === 'package-lock.json') return;
    for (const [index, line] of lines.entries()) {
      const found = [repository, homedir()].find((own) => line.includes(`${own}/`));
      if (found === undefined && !usersDirectory.test(line)) continue;
      yield { line: index + 1, message: 'build the path from the repository or os.tmpdir().' };
    }
  }),
};

/** Package registries and module proxies go by such names; k8s.io's holds images, not packages. */
const registry =
  /\b(?:registry|proxy|sum|pypi|files)\.(?!k8s\b)[a-z]+[a-z-]*\.(?:org|com|io|dev)\b/;
const resolved = /"resolved": "https?:/;

const registryHost: Rule = {
  name: 'registry-host',
  reason: 'where packages come from is for the machine that installs them to say',
  check: perFile(function* ({ lines }) {
    for (const [index, line] of lines.entries()) {
      if (!registry.test(line) && !resolved.test(line)) continue;
      yield { line: index + 1, message: "take the registry's host out; the client knows it." };
    }
  }),
};

/** All that is ours. */
const PLAIN_FOLDERS = /^(?:functions|shared|knative|test)\//;
const noSubject = /(?:\/\/|^ *\/?\*+|[.:;]) +(?:What|Who|Whose|Whoever|Of)\b/;

const plainComment: Rule = {
  name: 'plain-comment',
  reason: 'a sentence that begins with its subject is understood at the first reading',
  check: perFile(function* ({ path, lines }) {
    if (extname(path) !== '.ts' || !PLAIN_FOLDERS.test(path)) return;
    for (const [index, line] of lines.entries()) {
      if (!/^ *(?:\/\/|\/?\*)/.test(line) || !noSubject.test(line)) continue;
      yield { line: index + 1, message: 'begin the sentence with its subject.' };
    }
  }),
};

export const textRules: readonly Rule[] = [
  lineLength,
  header,
  machinePath,
  registryHost,
  plainComment,
];
