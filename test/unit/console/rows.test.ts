// The list of the page: pods under their nodes, what a search finds, and work in slices.
import { expect, test } from 'vitest';
import type { Row } from '../../../functions/console/answers.ts';
import { Rows } from '../../../functions/console/page/rows.ts';

const pod = (name: string, node: string, ip = '10.0.0.1', state = '', services = ''): Row => [
  'p',
  'shop',
  name,
  node,
  ip,
  state,
  services,
];
const node = (name: string): Row => ['n', '', name, '', '10.1.0.1', '', ''];
const forEver = (): boolean => false;

function linesOf(rows: Rows): readonly string[] {
  rows.refresh(forEver);
  return Array.from({ length: rows.lines }, (_, index) => {
    const [kind, , name] = rows.line(index) ?? [];
    return kind === 'n' ? `[${name}]` : String(name);
  });
}

function filled(): Rows {
  const rows = new Rows();
  const all = [
    node('n2'),
    pod('web-2', 'n2'),
    pod('db-1', 'n1', '10.0.0.9', '', 'sql'),
    node('n1'),
  ];
  for (const row of [...all, pod('web-1', 'n1'), pod('new', '', '', 'Pending')]) rows.apply(row);
  return rows;
}

test('pods stand under their nodes by name, and those without one at the end', () => {
  expect(linesOf(filled())).toEqual(['[n1]', 'db-1', 'web-1', '[n2]', 'web-2', '[]', 'new']);
});

test('a pod that moves, goes or comes back is where it is, once', () => {
  const rows = filled();
  rows.apply(pod('web-1', 'n2'));
  rows.apply(['p', 'shop', 'new']);
  rows.apply(['p', 'shop', 'db-1']);
  rows.apply(['p', 'shop', 'never-seen']);
  rows.apply(['n', '', 'n1']);
  expect([linesOf(rows), rows.total]).toEqual([['[n2]', 'web-1', 'web-2'], 2]);
});

test.each([
  ['WEB', ['[n1]', 'web-1', '[n2]', 'web-2']],
  ['10.0.0.9', ['[n1]', 'db-1']],
  ['node:n2', ['[n2]', 'web-2']],
  ['web node:n1', ['[n1]', 'web-1']],
  ['state:pending', ['[]', 'new']],
  ['svc:sql', ['[n1]', 'db-1']],
  ['SQL node:n1', ['[n1]', 'db-1']],
  ['svc:web', []],
  ['nothing-has-it', []],
])('a search for %s', (query, expected) => {
  const rows = filled();
  rows.search(query);
  expect(linesOf(rows)).toEqual(expected);
});

test('it stops when its time is over, and goes on where it was', () => {
  const rows = filled();
  expect(rows.refresh(() => true)).toBe(false);
  let slices = 1;
  while (!rows.refresh(() => true)) slices += 1;
  expect(slices).toBe(3);
  expect(linesOf(rows)).toHaveLength(7);
});
