// A step that is asked for anew is not one that changed nothing.
import { expect, test } from 'vitest';
import { loseVolume } from './model/faults.ts';
import { losePod, MEMORY } from './model/memory.ts';
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
  for (let times = 0; times < 12; times += 1) {
    loseVolume(run.model, 'etcd-1');
    await run.idle(4);
    await run.converge();
  }
  expect(run.warnings).not.toContain('NoEffect');
});

test('in memory a pod lost again and again is replaced each time', async () => {
  const run = new Run();
  run.edit(MEMORY);
  await run.converge();
  for (let times = 0; times < 12; times += 1) {
    losePod(run.model, 'etcd-1');
    await run.idle(4);
    await run.converge();
  }
  expect(run.warnings).not.toContain('NoEffect');
});

test('learners that are added and lost again are added each time', async () => {
  const run = new Run();
  run.edit({ ...MEMORY, replicas: 1 });
  await run.converge();
  const lost: string[] = [];
  run.model.kube.aroundWrite = () => {
    const [name] = [...run.model.members.values()].flatMap((one) => {
      return one.isLearner && run.model.processes.has(`${one.name}-0`) ? [one.name] : [];
    });
    if (name === undefined || lost.length === 20) return;
    lost.push(name);
    losePod(run.model, name);
    run.model.nowMs += 30_000;
  };
  run.edit({ replicas: 3 });
  await run.converge();
  expect(lost).toHaveLength(20);
  expect(run.warnings).not.toContain('NoEffect');
});
