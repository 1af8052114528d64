// A small reading of the syntax tree that vitest's own parser gives: what a file imports, what it
// exports, and every node with its parents, which is all that the tidy rules ask for.

export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value;

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (
    let end = text.indexOf('\n');
    end !== -1 && end < offset;
    end = text.indexOf('\n', end + 1)
  ) {
    line += 1;
  }
  return line;
}

/** All nodes in the order of the text. */
export function nodesIn(root: Node): readonly Node[] {
  const found: Node[] = [];
  const collect = (node: Node): void => {
    found.push(node);
    for (const field of Object.values(node)) {
      if (isNode(field)) collect(field);
      else if (Array.isArray(field)) for (const one of field) if (isNode(one)) collect(one);
    }
  };
  collect(root);
  return found;
}

/** The same with their parents, which costs several times as much. */
export function* walk(root: Node): Generator<readonly [Node, readonly Node[]]> {
  const open: (readonly [Node, readonly Node[]])[] = [[root, []]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next;
    const [node, parents] = next;
    const children = Object.values(node)
      .flat()
      .filter((child) => isNode(child));
    if (children.length === 0) continue;
    const inner = [...parents, node];
    for (const child of children.toReversed()) open.push([child, inner]);
  }
}

/** `process.env` for the member expression, `setTimeout` for the identifier, else undefined. */
export function dotted(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'Identifier') return String(node['name']);
  if (node.type !== 'MemberExpression' || node['computed'] === true) return undefined;
  const object = dotted(node['object']);
  return object === undefined ? undefined : `${object}.${dotted(node['property'])}`;
}

export const nameOf = (node: unknown): string =>
  isNode(node) ? String(node['name'] ?? node['value']) : '';
const list = (value: unknown): readonly Node[] =>
  Array.isArray(value) ? value.filter((item) => isNode(item)) : [];

export function importsOf(
  nodes: readonly Node[],
  text: string,
): { from: string; names: string[]; line: number; reExports: boolean }[] {
  const found = [];
  for (const node of nodes) {
    const from = isNode(node['source']) ? node['source']['value'] : undefined;
    if (typeof from !== 'string') continue;
    const specifiers = list(node['specifiers']);
    const whole =
      node.type === 'ImportExpression' ||
      node.type === 'ExportAllDeclaration' ||
      specifiers.some((specifier) => specifier.type === 'ImportNamespaceSpecifier');
    const inner = node.type === 'ImportDeclaration' ? 'imported' : 'local';
    const names = specifiers.map((s) => nameOf(s[inner] ?? { ...s, name: 'default' }));
    const reExports = node.type.startsWith('Export');
    found.push({ from, names: whole ? ['*'] : names, line: lineAt(text, node.start), reExports });
  }
  return found;
}

export function exportsOf(
  tree: Node,
  text: string,
): { name: string; line: number; isType: boolean }[] {
  return list(tree['body'])
    .filter((node) => node.type === 'ExportNamedDeclaration')
    .flatMap((node) => {
      const declaration = node['declaration'];
      const named = isNode(declaration)
        ? [declaration, ...list(declaration['declarations'])].map((part) => part['id'])
        : list(node['specifiers']).map((specifier) => specifier['exported']);
      const isType =
        node['exportKind'] === 'type' || (isNode(declaration) && declaration.type.startsWith('TS'));
      const line = lineAt(text, node.start);
      return named.filter((id) => isNode(id)).map((id) => ({ name: nameOf(id), line, isType }));
    });
}
