// Reads every file that is, or is about to be, in the repository, and what each TypeScript file
// imports and exports. The rules work on what this file hands them and read nothing themselves.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join, normalize } from 'node:path';
import { parseAst } from 'vitest/node';
import type { Node } from './syntax.ts';
import { exportsOf, importsOf, nodesIn } from './syntax.ts';

export interface Import {
  /** As written for a package, from the root of the repository for a relative one. */
  readonly from: string;
  readonly isLocal: boolean;
  /** `*` when the whole module is taken. */
  readonly names: readonly string[];
  readonly line: number;
  readonly reExports: boolean;
}

export interface Export {
  readonly name: string;
  readonly line: number;
  readonly isType: boolean;
}

export interface Source {
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
  /** Undefined for everything but TypeScript. */
  readonly syntax: Node | undefined;
  /** All of it in the order of the text. */
  readonly nodes: readonly Node[];
  readonly imports: readonly Import[];
  readonly exports: readonly Export[];
}

export function makeSource(path: string, text: string): Source {
  const lines = text.split('\n');
  if (extname(path) !== '.ts') {
    return { path, text, lines, syntax: undefined, nodes: [], imports: [], exports: [] };
  }
  const syntax = parseAst(text, { lang: 'ts' }, path) as unknown as Node;
  const nodes = nodesIn(syntax);
  const imports = importsOf(nodes, text).map((found) => {
    const isLocal = found.from.startsWith('.');
    const from = isLocal ? normalize(join(dirname(path), found.from)) : found.from;
    return { ...found, from, isLocal };
  });
  return { path, text, lines, syntax, nodes, imports, exports: exportsOf(syntax, text) };
}

/** Binary files and other people's texts: checksums, the lock file's tree, the licence. */
const notOurs = /(^|\/)(LICENSE|go\.sum|go\.mod)$|\.(png|gif|ico|gz|db|snap)$/;

export function readSources(root: string): Source[] {
  const options = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const listed = execFileSync('git', options, { cwd: root, encoding: 'utf8' });
  const paths = [...new Set(listed.split('\0'))].filter((path) => path !== '');
  return paths
    .filter((path) => !notOurs.test(path) && existsSync(join(root, path)))
    .toSorted()
    .map((path) => makeSource(path, readFileSync(join(root, path), 'utf8')));
}
