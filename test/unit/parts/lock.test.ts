// One holder at a time, across processes, and no lock outlives its holder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { withLock } from '../../../knative/try/local/parts/lock.ts';

const freshName = (): string => `ballast-test-${randomUUID()}`;
const nobodyHolds = (): void => {
  throw new Error('somebody else holds the lock');
};

const LOCK = new URL('../../../knative/try/local/parts/lock.ts', import.meta.url).href;

/** Holds the lock in a process of its own until it is killed. */
const HOLDER = `
  import { withLock } from ${JSON.stringify(LOCK)};
  await withLock(process.env.LOCK_NAME, { onWait: () => process.exit(3) }, async () => {
    console.log('held');
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  });
`;

test('two holders never overlap', async () => {
  const name = freshName();
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
  };
  const tries = Array.from({ length: 8 }, () => withLock(name, { onWait: () => undefined }, work));
  await Promise.all(tries);
  expect(most).toBe(1);
});

test('work that fails gives the lock back and passes its error on', async () => {
  const name = freshName();
  const failing = withLock(name, { onWait: nobodyHolds }, () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
  expect(await withLock(name, { onWait: nobodyHolds }, async () => 'mine')).toBe('mine');
});

test('a holder that is killed leaves no lock behind', async () => {
  const name = freshName();
  const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER], {
    env: { ...process.env, LOCK_NAME: name },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  let waits = 0;
  const mine = withLock(
    name,
    {
      onWait: () => {
        waits += 1;
        holder.kill('SIGKILL');
      },
    },
    async () => 'mine',
  );
  expect(await mine).toBe('mine');
  expect(waits).toBe(1);
});

test('a waiter whose signal aborts stops waiting', async () => {
  const name = freshName();
  const abort = new AbortController();
  const options = { signal: abort.signal, onWait: () => abort.abort(new Error('enough')) };
  await withLock(name, { onWait: nobodyHolds }, async () => {
    await expect(withLock(name, options, async () => 'mine')).rejects.toThrow('enough');
  });
});
