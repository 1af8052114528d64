// Pods by node, with those that a search finds: kept up to date by what changed, and looked through
// in slices, so that 150,000 of them stop nobody from typing. Knows no document.

import type { Row } from '../answers.ts';

interface Group {
  readonly node: string;
  readonly pods: Map<string, Row>;
  /** Found by the search, in order; the row of the node comes first. */
  found: readonly Row[];
  isStale: boolean;
  hasNode: boolean;
  nodeRow: Row;
}

/** Pods that no node runs yet stand under it, at the end. */
const NOWHERE = '';

type Test = (row: Row) => boolean;

const FIELDS: Readonly<Record<string, number>> = {
  ns: 1,
  name: 2,
  node: 3,
  ip: 4,
  state: 5,
  svc: 6,
};

export class Rows {
  readonly #groups = new Map<string, Group>();
  /** By name, where each pod was. */
  readonly #nodeOf = new Map<string, string>();
  #order: Group[] = [];
  #isOrdered = true;
  #stale = new Set<Group>();
  #tests: readonly Test[] = [];
  /** Where each group begins among all lines. */
  #begins: number[] = [];
  total = 0;
  found = 0;

  clear(): void {
    this.#groups.clear();
    this.#nodeOf.clear();
    this.#order = [];
    this.#stale.clear();
    this.total = 0;
  }

  apply(row: Row): void {
    const [kind, namespace, name, node] = row;
    if (kind === 'n') return this.#applyNode(name, row, node !== undefined);
    const key = `${namespace}/${name}`;
    const before = this.#nodeOf.get(key);
    if (before !== undefined && before !== node) {
      const group = this.#groupOf(before);
      if (group.pods.delete(key)) this.total -= 1;
      this.#spoil(group);
      this.#nodeOf.delete(key);
      this.#forgetIfEmpty(group);
    }
    if (node === undefined) return;
    const group = this.#groupOf(node);
    if (!group.pods.has(key)) this.total += 1;
    group.pods.set(key, row);
    this.#nodeOf.set(key, node);
    this.#spoil(group);
  }

  search(query: string): void {
    this.#tests = query.toLowerCase().split(/\s+/).filter(Boolean).map(testOf);
    for (const group of this.#groups.values()) this.#spoil(group);
  }

  /** Works until `deadline` says so; true when nothing is left to do. */
  refresh(isOver: () => boolean): boolean {
    for (const group of this.#stale) {
      this.#stale.delete(group);
      group.isStale = false;
      group.found = this.#look(group);
      if (isOver()) return false;
    }
    this.#arrange();
    return true;
  }

  get lines(): number {
    const last = this.#order.length - 1;
    const group = this.#order[last];
    return group === undefined ? 0 : (this.#begins[last] ?? 0) + group.found.length;
  }

  line(index: number): Row | undefined {
    let low = 0;
    let high = this.#order.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#begins[middle] ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    return this.#order[low]?.found[index - (this.#begins[low] ?? 0)];
  }

  #applyNode(name: string, row: Row, isThere: boolean): void {
    const group = this.#groupOf(name);
    group.hasNode = isThere;
    if (isThere) group.nodeRow = row;
    this.#spoil(group);
    this.#forgetIfEmpty(group);
  }

  #groupOf(node: string): Group {
    const known = this.#groups.get(node);
    if (known !== undefined) return known;
    const nodeRow: Row = ['n', '', node, '', '', node === NOWHERE ? '' : 'unknown node', ''];
    const made: Group = {
      node,
      pods: new Map(),
      found: [],
      isStale: false,
      hasNode: false,
      nodeRow,
    };
    this.#groups.set(node, made);
    this.#isOrdered = false;
    return made;
  }

  #forgetIfEmpty(group: Group): void {
    if (group.hasNode || group.pods.size > 0) return;
    this.#groups.delete(group.node);
    this.#stale.delete(group);
    this.#isOrdered = false;
  }

  #spoil(group: Group): void {
    if (group.isStale) return;
    group.isStale = true;
    this.#stale.add(group);
  }

  #look({ pods, nodeRow }: Group): readonly Row[] {
    const tests = this.#tests;
    const found = [...pods.values()].filter((row) => tests.every((test) => test(row)));
    const isNodeFound = tests.every((test) => test(nodeRow));
    if (found.length === 0 && !isNodeFound) return [];
    return [nodeRow, ...found.toSorted(byName)];
  }

  #arrange(): void {
    if (!this.#isOrdered) {
      const order = [...this.#groups.values()];
      this.#order = order.toSorted((a, b) => rank(a) - rank(b) || compare(a.node, b.node));
      this.#isOrdered = true;
    }
    let begin = 0;
    let heads = 0;
    this.#begins = this.#order.map(({ found }) => {
      const here = begin;
      begin += found.length;
      heads += found.length > 0 ? 1 : 0;
      return here;
    });
    this.found = begin - heads;
  }
}

const rank = ({ node }: Group): number => (node === NOWHERE ? 1 : 0);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byName = (a: Row, b: Row): number => compare(a[1], b[1]) || compare(a[2], b[2]);

/** `field:text` looks into one field, anything else into all. */
function testOf(term: string): Test {
  const at = term.indexOf(':');
  const field = FIELDS[term.slice(0, at)];
  if (at > 0 && field !== undefined) {
    const wanted = term.slice(at + 1);
    return (row) => fieldOf(row, field).toLowerCase().includes(wanted);
  }
  return (row) =>
    `${row[1]}/${row[2]} ${row[3] ?? ''} ${row[4] ?? ''} ${row[5] ?? ''} ${row[6] ?? ''}`
      .toLowerCase()
      .includes(term);
}

/** The node of a node is itself. */
function fieldOf(row: Row, field: number): string {
  if (row[0] === 'n' && field === FIELDS['node']) return row[2];
  return row[field] ?? '';
}
