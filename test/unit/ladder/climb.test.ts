// Climbs small ladders made of real commands: order, rungs left out, hangs, and giving up.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Outcome } from '../../ladder/outcome.ts';
import { climb, total } from '../../ladder/climb.ts';
import type { Rung } from '../../ladder/rungs.ts';
import { cannotBeHadCode } from '../../ladder/rungs.ts';

const rung = (name: Rung['name'], script: string, more: Partial<Rung> = {}): Rung => ({
  name,
  title: name,
  commands: [['node', '-e', script]],
  boundMs: 30_000,
  needs: [],
  slots: 1,
  counts: 'one',
  shows: 'on failure',
  ...more,
});

interface Climbed {
  readonly outcomes: readonly Outcome[];
  readonly said: string;
}

async function climbed(...ladder: readonly Rung[]): Promise<Climbed> {
  let said = '';
  const print = (text: string): void => {
    said += text;
  };
  const outcomes = await climb(ladder, { signal: new AbortController().signal, slots: 1, print });
  return { outcomes, said };
}

const hangs = "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000);";

describe('a climb', () => {
  test('says each rung with its state and counts it as one', async () => {
    const { outcomes, said } = await climbed(rung('types', ''), rung('lint', 'process.exitCode=1'));
    expect(said).toMatch(
      /^types +passed \(\d+\.\d s, CPU \d+\.\d s\)\nlint +failed \(\d+\.\d s, CPU \d+\.\d s\)\n$/,
    );
    expect(total(outcomes, true)).toBe('1 passed, 1 failed');
  });

  test('shows what a rung printed only when it failed', async () => {
    const quiet = rung('types', "console.log('all is well')");
    const loud = rung('lint', "console.error('line 3 is bad'); process.exitCode = 1");
    const { said } = await climbed(quiet, loud);
    expect(said).not.toContain('all is well');
    expect(said).toContain('line 3 is bad');
  });

  test('shows what a long rung prints as it comes', async () => {
    const { said } = await climbed(rung('parts', "console.log('etcd')", { shows: 'always' }));
    expect(said).toMatch(/^etcd\nparts +passed/);
  });

  test('gives a rung the settings that it names, and no other one', async () => {
    const isSet = "process.exitCode = process.env['OF_A_RUNG'] === 'yes' ? 0 : 1";
    const ladder = [rung('unit', isSet, { env: { OF_A_RUNG: 'yes' } }), rung('contract', isSet)];
    const { outcomes } = await climbed(...ladder);
    expect(outcomes.map(({ state }) => state)).toEqual(['passed', 'failed']);
  });

  test('stops a rung at its first command that fails', async () => {
    const commands = [
      ['node', '-e', 'process.exitCode = 1'],
      ['node', '-e', "console.log('second')"],
    ];
    const { outcomes, said } = await climbed(rung('lint', '', { commands }));
    expect(outcomes[0]?.state).toBe('failed');
    expect(said).not.toContain('second');
  });

  test('fails a rung whose command does not exist, by the name of the command', async () => {
    const { outcomes, said } = await climbed(rung('lint', '', { commands: [['no-such-tool']] }));
    expect(outcomes[0]?.state).toBe('failed');
    expect(said).toContain('no-such-tool could not be started');
  });

  test('leaves out what cannot be had, and what stands on it, and says why', async () => {
    const script = `process.exitCode = ${cannotBeHadCode}`;
    const parts = rung('parts', script, { isAboutMachine: true });
    const contract = rung('contract', '', { needs: ['parts'] });
    const { outcomes, said } = await climbed(rung('types', ''), parts, contract);
    expect(outcomes.map(({ state }) => state)).toEqual(['passed', 'left out', 'left out']);
    expect(said).toContain('it needs parts, which was left out');
    expect(total(outcomes, false)).toBe('1 passed, 0 failed');
    expect(total(outcomes, true)).toBe('1 passed, 2 failed');
  });

  test('leaves out what stands on a rung that failed', async () => {
    const ladder = [
      rung('bundles', 'process.exitCode = 1'),
      rung('integration', '', { needs: ['bundles'] }),
    ];
    const { outcomes, said } = await climbed(...ladder);
    expect(outcomes[1]?.state).toBe('left out');
    expect(said).toContain('it needs bundles, which failed');
  });

  test('ends a rung that hangs, and counts it as failed though it exits with 0', async () => {
    const { outcomes } = await climbed(rung('types', hangs, { boundMs: 300 }));
    expect(outcomes[0]).toMatchObject({ state: 'failed', failed: 1 });
    expect(outcomes[0]?.notes).toEqual(['ended after 0.3 s: it hung']);
  });

  test('ends every process of the rung when the climb is given up', async () => {
    const stop = new AbortController();
    const child = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(
      'setInterval(() => {}, 1000)',
    )}], { stdio: 'ignore' })`;
    const script = `console.log('pid ' + ${child}.pid); setInterval(() => {}, 1000);`;
    let said = '';
    const print = (text: string): void => {
      said += text;
      if (text.startsWith('pid ')) stop.abort();
    };
    const ladder = [rung('parts', script, { shows: 'always' }), rung('unit', '')];
    const outcomes = await climb(ladder, { signal: stop.signal, slots: 1, print });
    expect(outcomes.map(({ state }) => state)).toEqual(['failed']);
    const pid = Number(/^pid (\d+)$/m.exec(said)?.[1]);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test('ends the parts of planes too, which are no processes of the group', async () => {
    // Another start under the same directory would end them too.
    const scratch = mkdtempSync(join(tmpdir(), 'ballast-climb-'));
    vi.stubEnv('TMPDIR', scratch);
    onTestFinished(() => {
      vi.unstubAllEnvs();
      rmSync(scratch, { recursive: true });
    });
    const stop = new AbortController();
    const commands = [['node', resolve(import.meta.dirname, '../process/hold-plane.ts')]];
    let said = '';
    const print = (text: string): void => {
      said += text;
      if (text.includes('}')) stop.abort();
    };
    const ladder = [rung('parts', '', { shows: 'always', commands })];
    await climb(ladder, { signal: stop.signal, slots: 1, print });
    const { dir, pids } = JSON.parse(/^\{.*\}$/m.exec(said)?.[0] ?? '') as HeldPlane;
    expect(pids).toHaveLength(2);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
    await expect.poll(() => existsSync(dir)).toBe(false);
  });
});

interface HeldPlane {
  readonly dir: string;
  readonly pids: readonly number[];
}

/** A killed orphan may stay in the table until the machine's first process takes its leave. */
function isAlive(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && !readFileSync(path, 'utf8').includes(') Z ');
}
