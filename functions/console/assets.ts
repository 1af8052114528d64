// The files of the page. As built they lie beside the bundle, in one script; from its sources each
// file is a script of its own, without its types. They tell nothing of a cluster.
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Answer, Route } from '../../shared/function/define.ts';

const { stripTypeScriptTypes } = process.getBuiltinModule('node:module');

const DIR = join(import.meta.dirname, 'page');
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  ts: 'text/javascript; charset=utf-8',
};
const PAGE = 'index.html';

export function assetRoutes<Deps>(): readonly Route<Deps>[] {
  return readdirSync(DIR)
    .filter((name) => Object.hasOwn(TYPES, endOf(name)))
    .map((name) => ({
      method: 'GET',
      path: name === PAGE ? '/console' : `/console/${name}`,
      summary: name === PAGE ? 'the page' : 'a file of the page',
      isOpen: true,
      handle: () => answerOf(name),
    }));
}

const endOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

async function answerOf(name: string): Promise<Answer> {
  const text = await readFile(join(DIR, name), 'utf8');
  const content = name.endsWith('.ts') ? stripTypeScriptTypes(text) : pageOf(name, text);
  return { body: undefined, file: { type: TYPES[endOf(name)] ?? '', content } };
}

/** As built its script is app.js. */
function pageOf(name: string, text: string): string {
  if (name !== PAGE || readdirSync(DIR).includes('app.js')) return text;
  return text.replace('console/app.js', 'console/app.ts');
}
