// The exit code of the real process when nobody can take what it says: 1 means that something is
// old, so nothing else may end with it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeBoltFile } from '../../builders/bolt-file.ts';

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'audit-program-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A snapshot of one object in this version of its kind, which is stored as v1. */
function snapshotOf(version: string): string {
  const path = join(dir, `${version}.db`);
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    spec: {
      group: 'example.com',
      names: { plural: 'widgets' },
      versions: [{ name: 'v1alpha1' }, { name: 'v1', storage: true }],
    },
  };
  const values = {
    'apiextensions.k8s.io/customresourcedefinitions/widgets.example.com': crd,
    'example.com/widgets/web/a': { apiVersion: `example.com/${version}`, kind: 'Widget' },
  };
  const records = Object.entries(values).map(([key, value], index) => ({
    main: index + 2,
    key: `/registry/${key}`,
    value: JSON.stringify(value),
  }));
  writeBoltFile(path, records);
  return path;
}

async function audited(path: string, stdout: 'pipe' | number) {
  const child = spawn(process.execPath, ['functions/storage-audit/main.ts', path], {
    stdio: ['ignore', stdout, 'pipe'],
  });
  // Gone before the first word.
  child.stdout?.destroy();
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => void (said += chunk.toString()));
  const [code]: unknown[] = await once(child, 'close');
  return { code, said };
}

test.each([
  ['v1', 0],
  ['v1alpha1', 1],
])('a reader who has gone changes nothing: an object in %s ends with %i', async (version, code) => {
  expect(await audited(snapshotOf(version), 'pipe')).toEqual({ code, said: '' });
});

test('an answer that cannot be written is none: 2, with the reason', async () => {
  const { code, said } = await audited(snapshotOf('v1'), openSync('/dev/full', 'w'));
  expect([code, said]).toEqual([
    2,
    'The answer could not be written (ENOSPC: no space left on device, write).\n',
  ]);
});
