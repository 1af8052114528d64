// Which places of the repository an expression can stand for: what `join`, `resolve`, `new URL` and
// their like make of where a file is. A part that nobody can tell may be anything.

import { posix } from 'node:path';
import { dotted, isNode, type Node } from '../../tidy/syntax.ts';

/** A part of a path that is known only when it runs; it may have slashes. */
export const ANY = '*';

export interface Scope {
  /** From the top of the repository. */
  readonly file: string;
  /** A name may stand for these in this file; undefined is known only when it runs. */
  readonly values: ReadonlyMap<string, readonly (Node | undefined)[]>;
  /** The same for a name that is imported, already as paths. */
  readonly imported: (name: string) => readonly string[];
  readonly known: WeakMap<Node, readonly string[]>;
}

/** Deep enough for every path that somebody has written. */
const DEPTH_MAX = 16;

const JOINS = /^(?:path\.|posix\.)?(?:join|resolve)$/;
const UNCHANGED = /^(?:fileURLToPath|pathToFileURL|import\.meta\.resolve|String|realpath\w*)$/;

/** Before what begins at the top of the repository; other texts may be a part of a path. */
const TOP = '\0/';
export const isAnchored = (text: string): boolean => text.startsWith(TOP);
/** From the top of the repository, which is ''. */
export const fromTop = (anchored: string): string => anchored.slice(TOP.length);

const EVALUATED = new Set(
  [
    'Literal TemplateLiteral Identifier MemberExpression CallExpression NewExpression',
    'BinaryExpression ConditionalExpression LogicalExpression AwaitExpression',
    'TSAsExpression TSNonNullExpression',
  ].flatMap((line) => line.split(' ')),
);

/** More than one where it depends; none when it is not known to be text. */
export function pathsIn(node: unknown, scope: Scope, depth = 0): readonly string[] {
  if (!isNode(node) || depth > DEPTH_MAX || !EVALUATED.has(node.type)) return [];
  const known = scope.known.get(node);
  if (known !== undefined) return known;
  const found = evaluate(node, scope, depth);
  scope.known.set(node, found);
  return found;
}

function evaluate(node: Node, scope: Scope, depth: number): readonly string[] {
  const inner = (one: unknown): readonly string[] => pathsIn(one, scope, depth + 1);
  const known = (one: unknown): readonly string[] => orAny(inner(one));
  switch (node.type) {
    case 'Literal':
      return typeof node['value'] === 'string' ? [node['value']] : [];
    case 'TemplateLiteral':
      return combined(piecesOf(node).map((one) => (typeof one === 'string' ? [one] : known(one))));
    case 'BinaryExpression':
      return combined([known(node['left']), known(node['right'])]);
    case 'ConditionalExpression':
      return either([inner(node['consequent']), inner(node['alternate'])]);
    case 'LogicalExpression':
      return either([inner(node['left']), inner(node['right'])]);
    case 'AwaitExpression':
      return inner(node['argument']);
    case 'TSAsExpression':
    case 'TSNonNullExpression':
      return inner(node['expression']);
    case 'Identifier': {
      const values = scope.values.get(String(node['name']));
      if (values === undefined) return scope.imported(String(node['name']));
      return either(values.map(inner));
    }
    case 'MemberExpression':
      return ofMember(node, scope.file, inner);
    case 'NewExpression':
    case 'CallExpression':
      return ofCall(node, { inner, known });
    default:
      return [];
  }
}

const orAny = (found: readonly string[]): readonly string[] => (found.length === 0 ? [ANY] : found);

const either = (all: readonly (readonly string[])[]): readonly string[] =>
  all.every(({ length }) => length === 0) ? [] : [...new Set(all.flatMap(orAny))];

type Read = (node: unknown) => readonly string[];

function ofMember(node: Node, file: string, inner: Read): readonly string[] {
  const isMeta = isNode(node['object']) && node['object'].type === 'MetaProperty';
  const name = isNode(node['property']) ? String(node['property']['name']) : '';
  if (isMeta) return [TOP + (name === 'dirname' ? posix.dirname(file) : file)];
  return name === 'pathname' || name === 'href' ? inner(node['object']) : [];
}

function ofCall(
  node: Node,
  { inner, known }: { readonly inner: Read; readonly known: Read },
): readonly string[] {
  const args = Array.isArray(node['arguments']) ? (node['arguments'] as unknown[]) : [];
  const [first, second] = args;
  const callee = isNode(node['callee']) ? node['callee'] : undefined;
  const name = calledName(callee);
  if (name === 'URL') {
    if (second === undefined) return [];
    const bases = inner(second).filter(isAnchored);
    return bases.flatMap((base) =>
      known(first).map((to) => cleaned(base.slice(0, base.lastIndexOf('/') + 1) + to)),
    );
  }
  if (name === 'dirname')
    return inner(first)
      .filter(isAnchored)
      .map((path) => cleaned(`${path}/..`));
  if (UNCHANGED.test(name)) return inner(first);
  if (!JOINS.test(name)) return [];
  return combined(args.map(known), '/').map((path) => (isAnchored(path) ? cleaned(path) : path));
}

function calledName(callee: Node | undefined): string {
  const object = callee?.['object'];
  if (isNode(object) && object.type === 'MetaProperty') return 'import.meta.resolve';
  return dotted(callee) ?? '';
}

/** Without dots; behind an unknown part, nobody knows where they lead. */
function cleaned(anchored: string): string {
  const path = fromTop(anchored);
  const unknown = path.indexOf(ANY);
  if (unknown !== -1 && /(?:^|\/)\.\.(?:\/|$)/.test(path.slice(unknown))) {
    return TOP + ANY;
  }
  // Above the top there is nothing of ours.
  return TOP + posix.join('/', path).slice(1);
}

/** One of each, in every combination. */
const combined = (parts: readonly (readonly string[])[], between = ''): readonly string[] =>
  parts.reduce<readonly string[]>(
    (so, next, index) =>
      so.flatMap((text) => next.map((one) => (index === 0 ? one : text + between + one))),
    [''],
  );

function piecesOf(node: Node): readonly (string | Node)[] {
  const quasis = node['quasis'] as readonly { readonly value: { readonly cooked: string } }[];
  const holes = node['expressions'] as readonly Node[];
  return quasis.flatMap(({ value }, at) => {
    const hole = holes[at];
    return hole === undefined ? [value.cooked] : [value.cooked, hole];
  });
}
