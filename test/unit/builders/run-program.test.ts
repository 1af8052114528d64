// A program that tests run to its end.
import { expect, test } from 'vitest';
import { runProgram } from '../../builders/run-program.ts';

const MUCH = 'x'.repeat(1_000_000);

test('a program that ends without reading its input is told by how it ended', async () => {
  expect(await runProgram('sh', ['-c', 'exit 3'], { input: MUCH })).toMatchObject({ status: 3 });
});

test('a program that reads its input has all of it', async () => {
  expect(await runProgram('wc', ['-c'], { input: MUCH })).toMatchObject({ out: '1000000\n' });
});
