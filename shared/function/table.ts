// Any JSON answer as lines that a person reads in a terminal: a list of objects becomes a table,
// an object becomes `name: value` lines, everything else itself.
import { printable } from './printable.ts';

type Row = Readonly<Record<string, unknown>>;

const GAP = '  ';

export function textOf(body: unknown): string {
  if (Array.isArray(body)) return body.every(isRow) ? tableOf(body) : listOf(body);
  if (isRow(body)) return sectionsOf(body);
  return `${cellOf(body)}\n`;
}

function tableOf(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (names.length === 0) return 'nothing\n';
  const lines = [names.map((name) => name.toUpperCase())];
  for (const row of rows) lines.push(names.map((name) => cellOf(row[name])));
  const widths = names.map((_, index) =>
    Math.max(...lines.map((line) => line[index]?.length ?? 0)),
  );
  return lines.map((line) => `${aligned(line, widths)}\n`).join('');
}

function sectionsOf(row: Row): string {
  const entries = Object.entries(row);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  return entries
    .map(([name, value]) => {
      const isTable = Array.isArray(value) && value.length > 0 && value.every(isRow);
      return isTable
        ? `${name}:\n${tableOf(value)}`
        : `${`${name}:`.padEnd(width + 1)} ${cellOf(value)}\n`;
    })
    .join('');
}

const listOf = (items: readonly unknown[]): string =>
  items.map((item) => `${cellOf(item)}\n`).join('');

const aligned = (cells: readonly string[], widths: readonly number[]): string =>
  cells
    .map((cell, index) => cell.padEnd(widths[index] ?? 0))
    .join(GAP)
    .trimEnd();

function cellOf(value: unknown): string {
  if (value === undefined || value === null || value === '') return '-';
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cellOf).join(', ');
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
