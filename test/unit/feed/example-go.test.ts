// The example of a reader in Go stays one: short enough to be read at one go, and with the client
// of NATS as all that it needs.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const DIR = join(import.meta.dirname, '../../../docs/example-go');
const CODE_LINES_MAX = 600;

const linesOf = (name: string): readonly string[] =>
  readFileSync(join(DIR, name), 'utf8').split('\n');
const isCode = (line: string): boolean => !/^\s*(\/\/.*)?$/.test(line);

test('it has at most 600 lines of code, beside its comments', () => {
  const sources = readdirSync(DIR).filter((name) => name.endsWith('.go'));
  const lines = sources.flatMap(linesOf);
  const code = lines.filter(isCode);
  expect(code.length).toBeLessThanOrEqual(CODE_LINES_MAX);
});

test('it requires nats.go and nothing else by itself', () => {
  const required = linesOf('go.mod').filter((line) => / v\d/.test(line));
  const direct = required.filter((line) => !line.endsWith('// indirect'));
  expect(direct).toEqual([expect.stringMatching(/^require github\.com\/nats-io\/nats\.go v/)]);
});
