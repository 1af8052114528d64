// One supervised process: ready, dead with its last words, ended on request, started again.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import {
  type PartChange,
  PartProcess,
  type PartSpec,
} from '../../../knative/try/local/process/part.ts';
import type { PatienceLimits } from '../../../knative/try/local/process/patience.ts';
import { residentBytes, startTimeTicks } from '../../../knative/try/local/process/proc.ts';

/** Read at once, so that no time passes in which a thread may still come to a stand. */
function hasRunningThread(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).some((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
  });
}

const MARK = 'BALLAST_PLANE=/nowhere';

const node = (script: string, extra: Partial<PartSpec> = {}): PartSpec => ({
  name: 'sample',
  command: process.execPath,
  args: ['-e', script],
  env: {},
  url: '',
  ready: async () => true,
  ...extra,
});

const run = (spec: PartSpec, limits?: PatienceLimits): { part: PartProcess; changes: string[] } => {
  const changes: string[] = [];
  const onChange = ({ state, ending }: PartChange): void => {
    changes.push(ending === undefined ? state : `${state} ${ending}`);
  };
  const part = new PartProcess(spec, MARK, onChange, limits);
  // Also when the test fails: a busy process left behind disturbs everything after it.
  onTestFinished(() => part.kill());
  return { part, changes };
};

const FOREVER = 'setInterval(() => {}, 1000)';

test('a part is ready when its probe says so, and gone after stop', async () => {
  const { part, changes } = run(node(FOREVER));
  await part.start();
  const pid = part.pid ?? 0;
  expect(await startTimeTicks(pid)).toBeTypeOf('number');
  await part.stop();
  expect(await startTimeTicks(pid)).toBeUndefined();
  expect(changes).toEqual(['starting', 'ready', 'stopped SIGTERM']);
});

test('a part that dies while it starts rejects the start with its last lines', async () => {
  const { part, changes } = run(
    node('console.error("disk is full"); process.exit(3)', { ready: async () => false }),
  );
  await expect(part.start()).rejects.toThrow(
    /sample did not start \(exit code 3\)[^]*disk is full/,
  );
  expect(changes).toEqual(['starting', 'dead exit code 3']);
});

test('a part that hangs is ended, and the start says what was awaited', async () => {
  const ready = (): Promise<boolean> => Promise.reject(new Error('1 of 3 watches are open'));
  const { part } = run(node(FOREVER, { ready }), { stillMs: 500, wholeMs: 60_000 });
  await expect(part.start()).rejects.toThrow(
    'sample did not start (not ready, and nothing moved for 0.5 s: 1 of 3 watches are open)',
  );
  expect(part.state).toBe('dead');
});

test('a part that works while it starts is not taken for one that hangs', async () => {
  const works = 'setInterval(() => { for (let at = 0; at < 1e6; at += 1); }, 20)';
  const limits = { stillMs: 1_500, wholeMs: 2_500 };
  const { part } = run(node(works, { ready: async () => false }), limits);
  await expect(part.start()).rejects.toThrow(
    '(not ready within 2.5 s: it says that it is not ready)',
  );
});

test('a command that does not exist rejects the start with the reason', async () => {
  const { part } = run({ ...node(''), command: '/no/such/binary' });
  await expect(part.start()).rejects.toThrow(/could not be started[^]*ENOENT/);
});

test('kill -9 from outside is a death that is told, with the last lines', async () => {
  const { part, changes } = run(node(`console.log("working"); ${FOREVER}`));
  await part.start();
  await expect.poll(() => part.lastLines(1)).toEqual(['working']);
  process.kill(part.pid ?? 0, 'SIGKILL');
  await expect.poll(() => part.state).toBe('dead');
  expect(changes.at(-1)).toBe('dead SIGKILL');
  expect(part.lastLines(1)).toEqual(['working']);
});

test('a part that ignores SIGTERM while paused is still ended', async () => {
  const { part } = run(node(FOREVER));
  await part.start();
  await part.pause();
  await part.stop();
  expect(part.state).toBe('stopped');
});

test('a paused part has no thread at work any more when pause resolves', async () => {
  const worker = 'new (require("node:worker_threads").Worker)("for (;;);", { eval: true });';
  const { part } = run(node(`${worker.repeat(4)} setTimeout(() => console.log("busy"), 100)`));
  await part.start();
  await expect.poll(() => part.lastLines(1)).toEqual(['busy']);
  const moving: boolean[] = [];
  for (let round = 0; round < 20; round += 1) {
    await part.pause();
    moving.push(hasRunningThread(part.pid ?? 0));
    part.resume();
  }
  expect(moving).not.toContain(true);
  await part.kill();
});

test('what a part started ends with it, though it holds its output open', async () => {
  const child = `require('node:child_process').spawn(process.execPath, ['-e', '${FOREVER}'], {
    stdio: 'inherit',
  })`;
  const { part } = run(node(`console.log(${child}.pid); ${FOREVER}`));
  await part.start();
  await expect.poll(() => part.lastLines(1).length).toBe(1);
  const grandchild = Number(part.lastLines(1)[0]);
  process.kill(part.pid ?? 0, 'SIGKILL');
  await expect.poll(() => part.state).toBe('dead');
  // Its new parent may be slow to reap it; it must hold no memory any more.
  await expect.poll(() => residentBytes(grandchild)).toBeUndefined();
});

test('nothing of the environment is inherited but the mark', async () => {
  const { part } = run(node(`console.log(JSON.stringify(process.env)); ${FOREVER}`));
  await part.start();
  await expect.poll(() => part.lastLines(1).length).toBe(1);
  expect(JSON.parse(part.lastLines(1)[0] ?? '')).toEqual({ BALLAST_PLANE: '/nowhere' });
  await part.kill();
});
