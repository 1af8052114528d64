// The imports of a module, and what its names may stand for.

import { posix } from 'node:path';
import { isNode, nameOf, type Node } from '../../tidy/syntax.ts';

export interface Bindings {
  /** Modules of ours, from the top of the repository; one that gives types alone is none. */
  readonly imports: readonly string[];
  readonly importedFrom: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
  /** Undefined for what is known only when it runs. */
  readonly values: ReadonlyMap<string, readonly (Node | undefined)[]>;
}

export function eachChild(node: Node, visit: (child: Node) => void): void {
  for (const name in node) {
    const field = node[name];
    if (typeof field !== 'object' || field === null) continue;
    if (Array.isArray(field)) {
      for (const one of field) if (isNode(one)) visit(one);
    } else if (isNode(field)) visit(field);
  }
}

/** It is gone before the module runs. */
export const isType = (node: Node): boolean =>
  node['importKind'] === 'type' || node['exportKind'] === 'type' || node.type.startsWith('TSType');

export function bindingsIn(tree: Node, file: string): Bindings {
  const imports = new Set<string>();
  const importedFrom = new Map<string, { file: string; name: string }>();
  const values = new Map<string, (Node | undefined)[]>();
  const add = (name: string, value: Node | undefined): void => {
    values.set(name, [...(values.get(name) ?? []), value]);
  };
  const addUnknown = (pattern: Node): void => {
    if (pattern.type === 'Identifier') add(nameOf(pattern), undefined);
    else if (!isType(pattern)) eachChild(pattern, addUnknown);
  };
  const takeImport = (node: Node, from: string): void => {
    const to = posix.join(posix.dirname(file), from);
    imports.add(to);
    eachChild(node, (one) => {
      const [local, name] = [nameOf(one['local']), nameOf(one['imported'])];
      if (one.type === 'ImportSpecifier') importedFrom.set(local, { file: to, name });
    });
  };
  const look = (node: Node, isConst: boolean): void => {
    if (isType(node)) return;
    const from = isNode(node['source']) ? node['source']['value'] : undefined;
    if (typeof from === 'string' && from.startsWith('.')) takeImport(node, from);
    const { id, init, params } = node;
    if (node.type === 'VariableDeclarator' && isNode(id)) {
      const isKnown = id.type === 'Identifier' && isNode(init);
      if (isKnown) add(nameOf(id), init);
      if (!isKnown || !isConst) addUnknown(id);
    }
    if (Array.isArray(params)) for (const one of params) if (isNode(one)) addUnknown(one);
    const inConst = node.type === 'VariableDeclaration' ? node['kind'] === 'const' : isConst;
    eachChild(node, (child) => look(child, inConst));
  };
  look(tree, false);
  return { imports: [...imports], importedFrom, values };
}
