// Says what a benchmark has found: a page for a person, one line of JSON for a program.

import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import type { Bench, Figure } from './runner.ts';
import type { FigureResult } from './verdict.ts';
import { controlMax } from './verdict.ts';

const number = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);

function limitOf({ better, limit }: Figure): string {
  if (limit === Infinity) return 'none: stated only';
  return `${better === 'higher' ? '>=' : '<='} ${limit}`;
}

/** The machine and versions, so that the same can be measured again. */
function surroundings(): string {
  const root = resolve(import.meta.dirname, '../..');
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const [first] = cpus();
  const gib = (totalmem() / 2 ** 30).toFixed(0);
  return [
    `ballast ${manifest.version}`,
    `node ${process.version}`,
    `linux ${release()}`,
    `${cpus().length} cores (${first?.model.trim() ?? 'unknown'})`,
    `${gib} GiB`,
  ].join(', ');
}

export function page(bench: Bench, results: readonly FigureResult[], pairs: number): string {
  const head = `${bench.id}: ${bench.title}\n${surroundings()}\n${pairs} pairs\n`;
  return [head, ...results.map(block)].join('\n');
}

function block({ figure, ours, against, ratio, control, verdict }: FigureResult): string {
  const side = (name: string, { median, worst }: FigureResult['ours']): string =>
    `  ${name.padEnd(24)} ${number(median)} ${figure.unit} (worst ${number(worst)})`;
  const percent = `${(control * 100).toFixed(1)} %`;
  const limit = `${controlMax * 100} %`;
  const noNumber = ' - the runs gave no number: the machine was too slow for what was asked';
  const differed = ` - ${figure.ours} differed from itself by ${percent}, more than ${limit}`;
  const why = Number.isFinite(ratio.median) ? differed : noNumber;
  return [
    figure.name,
    side(figure.ours, ours),
    side(figure.against, against),
    `  ${'ratio'.padEnd(24)} ${number(ratio.median)} (worst pair ${number(ratio.worst)})`,
    `  ${'limit'.padEnd(24)} ${limitOf(figure)}`,
    `  ${'control'.padEnd(24)} ${percent}`,
    `  ${verdict}${verdict === 'void' ? why : ''}`,
    '',
  ].join('\n');
}

interface JsonFigure {
  readonly ratio: number;
  readonly limit: number;
  readonly pass: boolean;
  readonly void?: true;
}

const toJson = ({ ratio, figure, verdict }: FigureResult): JsonFigure => ({
  ratio: Number(ratio.median.toFixed(4)),
  limit: figure.limit,
  pass: verdict === 'pass',
  ...(verdict === 'void' ? { void: true } : {}),
});

export function jsonLine(bench: Bench, results: readonly FigureResult[]): string {
  const [first, ...rest] = results;
  if (first === undefined) throw new Error(`${bench.id} has no figure.`);
  const also = Object.fromEntries(rest.map((result) => [result.figure.name, toJson(result)]));
  return JSON.stringify({ id: bench.id, ...toJson(first), also });
}
