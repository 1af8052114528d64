// How a vitest report is counted: whatever did not run and pass counts as failed.

import { expect, test } from 'vitest';
import { countTests, readCounts } from '../../ladder/counts.ts';

const file = (status: string, ...tests: readonly string[]) => ({
  name: 'a.test.ts',
  status,
  assertionResults: tests.map((state) => ({ status: state, fullName: `the ${state} one` })),
});

test.each([
  ['tests that passed', [file('passed', 'passed', 'passed')], 0, 2, 0],
  ['tests that failed', [file('failed', 'passed', 'failed')], 1, 1, 1],
  ['a skipped test', [file('passed', 'passed', 'skipped')], 0, 1, 1],
  ['a file that could not be loaded', [file('failed'), file('passed', 'passed')], 1, 1, 1],
  ['a hook that failed after its tests', [file('failed', 'passed')], 1, 1, 1],
  ['an error outside every test', [file('passed', 'passed')], 1, 1, 1],
  ['no test at all', [], 0, 0, 1],
])('counts %s', (_case, testResults, exitCode, passed, failed) => {
  expect(countTests({ testResults }, exitCode)).toMatchObject({ passed, failed });
});

test('names the test that was skipped and the file that broke', () => {
  const { notes } = countTests({ testResults: [file('failed'), file('passed', 'todo')] }, 1);
  expect(notes).toEqual([
    'failed outside its tests: a.test.ts',
    'todo, which counts as failed: the todo one',
  ]);
});

test('takes a report that was never written for a failure', async () => {
  const counts = await readCounts('does/not/exist.json', 0);
  expect(counts).toMatchObject({ passed: 0, failed: 1 });
  expect(counts.notes[0]).toContain('vitest wrote no report');
});
