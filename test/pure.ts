// Unit tests that leave their process as they found it: neither they nor anything that they import
// reaches sockets, programs or threads, and they say nothing about the process. They share one, in
// which each module is loaded once; starting one for each cost more than all of their tests.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Modules that keep nothing, and open nothing that a test does not close. */
const HARMLESS = new Set(
  [
    'ajv croner fast-check pino vitest yaml node:buffer node:crypto node:events node:fs',
    'node:fs/promises node:os node:path node:stream node:stream/consumers node:stream/promises',
    'node:timers/promises node:url node:util node:v8 node:zlib',
  ].flatMap((line) => line.split(' ')),
);
/** Imports of a file, also later on, but for types. */
const IMPORTS =
  /^(?:import|export)\s(?!type\s)(?:[^'";]*\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)/gm;
/** A test, or what helps it, that says so changes time, settings or modules, or opens a socket. */
const CHANGES_PROCESS = /\bvi\.|\bprocess\.|\bglobalThis\b|\bfetch\(|\bWebSocket\b/;

interface Read {
  readonly imports: readonly string[];
  readonly changesProcess: boolean;
}

/**
 * By their paths from the top of the repository. Each start of vitest asks, so files are searched
 * and not parsed, as the tidy rules parse them.
 */
export function pureTests(root: string): readonly string[] {
  const files = new Map<string, Read>();
  const read = (file: string): Read => {
    const known = files.get(file);
    if (known !== undefined) return known;
    const text = readFileSync(join(root, file), 'utf8');
    const found = [...text.matchAll(IMPORTS)].map(([, first, second]) => first ?? second ?? '');
    const imports = found.map((one) => (one.startsWith('.') ? join(dirname(file), one) : one));
    const changesProcess = file.startsWith('test/') && CHANGES_PROCESS.test(text);
    files.set(file, { imports, changesProcess });
    return { imports, changesProcess };
  };
  const isPure = (test: string): boolean => {
    const reached = new Set([test]);
    for (const one of reached) {
      if (HARMLESS.has(one) || /\.(?:json|yaml)$/.test(one)) continue;
      if (!one.endsWith('.ts') || !existsSync(join(root, one))) return false;
      const { imports, changesProcess } = read(one);
      if (changesProcess) return false;
      for (const next of imports) reached.add(next);
    }
    return true;
  };
  return globSync('test/unit/**/*.test.ts', { cwd: root }).filter(isPure);
}
