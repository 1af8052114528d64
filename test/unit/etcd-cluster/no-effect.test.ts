// A step that is asked for anew is not one that changed nothing.
import { expect, test } from 'vitest';
import { loseVolume } from './model/faults.ts';
import { Run } from './model/run.ts';

test('scaled up and down again and again, it is held back at no step', async () => {
  const run = new Run();
  await run.converge();
  for (let times = 0; times < 5; times += 1) {
    for (const replicas of [5, 3]) {
      run.edit({ replicas });
      await run.converge();
    }
  }
  expect(run.warnings).not.toContain('NoEffect');
});

test('a volume lost again and again is replaced each time', async () => {
  const run = new Run();
  await run.converge();
  for (let times = 0; times < 5; times += 1) {
    loseVolume(run.model, 'etcd-1');
    await run.idle(4);
    await run.converge();
  }
  expect(run.warnings).not.toContain('NoEffect');
});
