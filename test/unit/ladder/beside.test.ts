// Climbs small ladders whose rungs run beside each other: which begin, and what is said of them.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { climb } from '../../ladder/climb.ts';
import type { Rung } from '../../ladder/rungs.ts';

/** On a machine that is busy each Node takes seconds to start. */
const BOUND_MS = 40_000;
vi.setConfig({ testTimeout: 2 * BOUND_MS });

let place = '';

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'ballast-beside-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
});

const rung = (name: Rung['name'], script: string, more: Partial<Rung> = {}): Rung => ({
  name,
  title: name,
  commands: [['node', '-e', `const fs = require('node:fs'); ${script}`]],
  boundMs: BOUND_MS,
  needs: [],
  slots: 1,
  counts: 'one',
  shows: 'on failure',
  ...more,
});

const at = (name: string): string => JSON.stringify(join(place, name));
const says = (name: string): string => `fs.writeFileSync(${at(name)}, '');`;
/** Runs `then` when the other has said it. */
const awaits = (name: string, then = ''): string =>
  `const timer = setInterval(() => {
    if (!fs.existsSync(${at(name)})) return;
    clearInterval(timer);
    ${then}
  }, 5);`;
/** Fails when another one is at it. */
const isAlone = () =>
  `fs.mkdirSync(${at('one')}); setTimeout(() => fs.rmdirSync(${at('one')}), 200);`;

async function climbed(slots: number, ...ladder: readonly Rung[]) {
  let said = '';
  const print = (text: string): void => {
    said += text;
  };
  const outcomes = await climb(ladder, { signal: new AbortController().signal, slots, print });
  return { said, outcomes, states: outcomes.map(({ state }) => state) };
}

test('rungs that need nothing of each other are climbed at once', async () => {
  const one = rung('types', `${says('one')} ${awaits('other')}`);
  const other = rung('lint', `${says('other')} ${awaits('one')}`);
  expect((await climbed(2, one, other)).states).toEqual(['passed', 'passed']);
});

test('a rung begins when what it needs has passed, whatever else is under way', async () => {
  const long = rung('types', awaits('done'));
  const first = rung('parts', '');
  const next = rung('contract', says('done'), { needs: ['parts'] });
  const states = (await climbed(2, long, next, first)).states;
  expect(states).toEqual(['passed', 'passed', 'passed']);
});

test('no more is begun than the machine has slots for', async () => {
  const ladder = (['types', 'lint', 'unit'] as const).map((name) =>
    rung(name, isAlone(), { slots: 2 }),
  );
  expect((await climbed(3, ...ladder)).states).toEqual(['passed', 'passed', 'passed']);
});

test('a rung that wants more than the machine has is climbed alone', async () => {
  const ladder = [rung('types', isAlone()), rung('unit', isAlone(), { slots: 9 })];
  expect((await climbed(2, ...ladder)).states).toEqual(['passed', 'passed']);
});

test('no small rung passes a large one that waits for room', async () => {
  const fails = `process.exitCode = fs.existsSync(${at('small')}) ? 1 : 0;`;
  const ladder = [
    rung('types', 'setTimeout(() => undefined, 200);'),
    rung('unit', fails, { slots: 2 }),
    rung('lint', says('small')),
  ];
  expect((await climbed(2, ...ladder)).states).toEqual(['passed', 'passed', 'passed']);
});

test('a small rung passes a large one that waits for what it needs', async () => {
  const ladder = [
    rung('types', awaits('small')),
    rung('unit', '', { slots: 2, needs: ['types'] }),
    rung('lint', says('small')),
  ];
  expect((await climbed(2, ...ladder)).states).toEqual(['passed', 'passed', 'passed']);
});

test('what rungs print beside each other stands under their names', async () => {
  const shows = 'always';
  const one = rung('parts', `${awaits('b', "console.log('one'); ")} ${says('a')}`, { shows });
  const other = rung('node', `console.log('other'); ${awaits('a', says('b'))}`, { shows });
  const { said } = await climbed(2, one, other);
  expect(said.split('\n')).toEqual(expect.arrayContaining(['parts | one', 'node  | other']));
});

test('what a check says that failed stands right before its name', async () => {
  const bad = rung('lint', "console.log('line 3\\nline 4'); process.exitCode = 1");
  const { said } = await climbed(2, rung('types', ''), bad);
  expect(said).toMatch(/line 3\nline 4\nlint +failed/);
});

test('each rung has its own time of processors', async () => {
  const busy = 'let sum = 0; for (let index = 0; index < 1e8; index += 1) sum += index;';
  // The other has ended long before: two that end in one moment share a figure.
  const one = rung('types', awaits('begun', busy));
  const other = rung('lint', says('begun'));
  const last = rung('unit', '', { needs: ['types', 'lint'] });
  const { outcomes } = await climbed(2, one, other, last);
  const [ofOne = 0, ofOther = 0, ofLast = 0] = outcomes.map(({ cpuSeconds }) => cpuSeconds);
  expect(ofOne).toBeGreaterThan(0.02);
  expect(ofOther).toBeGreaterThan(0);
  expect(ofOther).toBeLessThan(ofOne);
  expect(ofLast).toBeLessThan(ofOne);
});
