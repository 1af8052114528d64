// How the output of one rung is shown beside that of others.

import { expect, test } from 'vitest';
import type { Rung } from '../../ladder/rungs.ts';
import { Voice } from '../../ladder/voice.ts';

function voice(shows: Rung['shows'], prefixWidth: number | undefined) {
  const said: string[] = [];
  const print = (text: string): void => void said.push(text);
  return { said, voice: new Voice({ name: 'unit', shows }, { prefixWidth, print }) };
}

test('a line is said when it is whole, under the name of its rung', () => {
  const { said, voice: unit } = voice('always', 6);
  unit.take('✓ a.te');
  expect(said).toEqual([]);
  unit.take('st.ts\n\n✓ b.test.ts\n✓ c');
  expect(said).toEqual(['unit   | ✓ a.test.ts\nunit   | ✓ b.test.ts\n']);
  expect(unit.end('passed')).toBe('');
  expect(said.at(-1)).toBe('unit   | ✓ c\n');
});

test('where nobody else speaks all is said as it comes', () => {
  const { said, voice: unit } = voice('always', undefined);
  unit.take('✓ a.te');
  unit.take('st.ts\n');
  expect(said).toEqual(['✓ a.te', 'st.ts\n']);
});

test.each([
  '⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯',
  '\u001B[31m⎯⎯⎯⎯\u001B[1m Failed Tests 12 \u001B[22m⎯⎯⎯⎯\u001B[39m',
  '⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯',
])('from the first failure on all is shown whole at the end: %s', (begin) => {
  const { said, voice: unit } = voice('always', 4);
  unit.take(`✓ a.test.ts\n${begin}\n\nAssertionError: 1 is`);
  unit.take(' not 2\n\nTests 1 failed');
  expect(said).toEqual(['unit | ✓ a.test.ts\n']);
  const held = `${begin}\n\nAssertionError: 1 is not 2\n\nTests 1 failed`;
  expect(unit.end('failed')).toBe(`${held}\n`);
});

test('a check that passed says nothing, one that failed all', () => {
  for (const state of ['passed', 'left out', 'failed'] as const) {
    const { said, voice: lint } = voice('on failure', 4);
    lint.take('line 3 is bad\n');
    expect([said, lint.end(state)]).toEqual([[], state === 'failed' ? 'line 3 is bad\n' : '']);
  }
});
