// Reads what vitest wrote about a run and counts it. A run that says nothing has failed, and so
// has a test that was skipped: the ladder promises that every test it counts has run.

import { readFile } from 'node:fs/promises';

export interface Counts {
  /** Files of which all passed; none when something failed that belongs to no file. */
  readonly passedFiles: readonly string[];
  readonly passed: number;
  readonly failed: number;
  /** Failures that the numbers alone do not tell: files that broke, tests that were skipped. */
  readonly notes: readonly string[];
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

export async function readCounts(path: string, exitCode: number): Promise<Counts> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const notes = [`vitest wrote no report (${why})`];
    return { passed: 0, failed: 1, passedFiles: [], notes };
  }
  return countTests(JSON.parse(text) as Report, exitCode);
}

export function countTests(report: Report, exitCode: number): Counts {
  let passed = 0;
  let failed = 0;
  const notes: string[] = [];
  const passedFiles: string[] = [];
  for (const file of report.testResults) {
    const broken = file.assertionResults.filter((test) => test.status === 'failed').length;
    for (const test of file.assertionResults) {
      if (test.status === 'passed') passed += 1;
      else failed += 1;
      if (test.status !== 'passed' && test.status !== 'failed') {
        notes.push(`${test.status}, which counts as failed: ${test.fullName}`);
      }
    }
    // An import that throws, or a hook: no single test carries the failure.
    if (file.status === 'failed' && broken === 0) {
      failed += 1;
      notes.push(`failed outside its tests: ${file.name}`);
    }
    const isPassed = file.assertionResults.every(({ status }) => status === 'passed');
    if (isPassed && file.status === 'passed') passedFiles.push(file.name);
  }
  if (passed + failed === 0) {
    return { passed, failed: 1, passedFiles: [], notes: ['found no test'] };
  }
  if (exitCode !== 0 && failed === 0) {
    failed += 1;
    notes.push('every test passed, but vitest ended with an error outside them');
    return { passed, failed, passedFiles: [], notes };
  }
  return { passed, failed, passedFiles, notes };
}
