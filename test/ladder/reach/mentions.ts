// Reads of a module what it reaches: others that it imports, and places of the repository that it
// names in any other way, be it to read them or to start them.

import { posix } from 'node:path';
import { nameOf, type Node } from '../../tidy/syntax.ts';
import { bindingsIn, eachChild, isType } from './bindings.ts';
import { ANY, fromTop, isAnchored, pathsIn, type Scope } from './paths.ts';

export interface Mentions {
  /** Files, from the top of the repository. */
  readonly imports: readonly string[];
  /** From the top, with unknown parts; of a folder, all of it. */
  readonly places: readonly string[];
  /** Texts of one word: among them may be the names of what is started. */
  readonly words: readonly string[];
  /** A name that it exports stands for these. */
  readonly exported: (name: string) => readonly string[];
}

export interface Module {
  readonly file: string;
  readonly tree: Node;
  /** Folders and files at the top of the repository. */
  readonly tops: ReadonlySet<string>;
  /** The same of another module. */
  readonly mentionsOf: (file: string) => Mentions | undefined;
}

export function mentionsIn(module: Module): Mentions {
  const { file, tree, mentionsOf } = module;
  const { imports, importedFrom, values } = bindingsIn(tree, file);
  const imported = (name: string): readonly string[] => {
    const from = importedFrom.get(name);
    return from === undefined ? [] : (mentionsOf(from.file)?.exported(from.name) ?? []);
  };
  const scope: Scope = { file, values, imported, known: new WeakMap() };
  const exported = (name: string): readonly string[] =>
    (values.get(name) ?? []).flatMap((one) => (one === undefined ? [ANY] : pathsIn(one, scope)));
  return { imports, exported, ...namedIn(module, scope) };
}

function namedIn({ file, tree, tops }: Module, scope: Scope): Pick<Mentions, 'places' | 'words'> {
  const places = new Set<string>();
  const words = new Set<string>();
  const take = (text: string): void => {
    if (/^[\w-]+$/.test(text)) words.add(text);
    // A command, or a module that is written when it is wanted, has its paths between other words.
    for (const part of new Set([text, ...text.split(/[\s'"`]+/)])) {
      if (!isAnchored(part) && isToldTo(part, text, file)) continue;
      for (const place of placesOf(part, file, tops)) places.add(place);
    }
  };
  /** Parts of a path that is taken whole are no mentions of their own. */
  const visit = (node: Node, isTaken: boolean): void => {
    if (isType(node) || node.type.endsWith('portSpecifier') || isStartedIn(node, scope)) return;
    const texts = pathsIn(node, scope);
    // A name counts where it is used, and not where it is given.
    const isGiven = node.type === 'VariableDeclarator' && nameOf(node['id']) !== '';
    const isPart = isTaken && texts.length > 0;
    if (!isPart) texts.forEach(take);
    const next = isGiven
      ? pathsIn(node['init'], scope).some(isAnchored)
      : isPart || texts.some((text) => placesOf(text, file, tops).length > 0);
    eachChild(node, (child) => {
      if (child !== node['source'] || node.type === 'ImportExpression') visit(child, next);
    });
  };
  visit(tree, false);
  return { places: [...places], words: [...words] };
}

/** A page to which people are sent; the functions have none with them where they run. */
const isToldTo = (part: string, text: string, file: string): boolean =>
  /^(?:\.+\/)*(?:docs\/|[A-Z]+\.md)/.test(part) &&
  (part !== text || /^(?:functions|shared)\//.test(file));

/** The top as the place where a program starts; what it does there is said beside it. */
function isStartedIn(node: Node, scope: Scope): boolean {
  if (node.type !== 'Property' || nameOf(node['key']) !== 'cwd') return false;
  const paths = pathsIn(node['value'], scope);
  return paths.length > 0 && paths.every((path) => isAnchored(path) && fromTop(path) === '');
}

/** None for text that is no path in the repository. */
function placesOf(text: string, file: string, tops: ReadonlySet<string>): readonly string[] {
  if (isAnchored(text)) {
    const path = fromTop(text);
    return path.startsWith('node_modules') ? [] : [path];
  }
  // Beside this file; or below a folder that it was handed, or the one in which it is started.
  const beside = /^\.{1,2}\/[./]*[^./]/.test(text) ? [posix.join(posix.dirname(file), text)] : [];
  const [, top = '', rest = ''] = /^(?:\.\/|\*\/)*([^/]+)(\/.+)?$/.exec(text) ?? [];
  const isPath = rest !== '' || text.startsWith(ANY) || top.includes('.');
  return isPath && tops.has(top) ? [...beside, `${top}${rest}`] : beside;
}
