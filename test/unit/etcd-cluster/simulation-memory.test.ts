// Members in memory: every change of them with a process dying at each single write of it, with old
// reads, and with the power of a node going at each of those moments. The model throws when a
// cluster is born again under its clients, when a member that votes comes back without what it had,
// and when no quorum is left by our doing.
import { describe, expect, test } from 'vitest';
import { Passed } from '../stateful/passed.ts';
import { losePower, MEMORY } from './model/memory.ts';
import { withOldReads } from './model/old-reads.ts';
import { type Edit, Run } from './model/run.ts';

const MANY_RUNS_MS = 120_000;
const size = (replicas: number): Edit => ({ replicas });
const IMAGE = { image: 'quay.io/coreos/etcd:v3.6.17' };
const NEXT = { image: 'quay.io/coreos/etcd:v3.7.3' };

const CHANGES: readonly { name: string; before: readonly Edit[]; edit: Edit }[] = [
  { name: 'it is created', before: [], edit: {} },
  { name: 'another image of one', before: [size(1)], edit: IMAGE },
  { name: 'a minor version', before: [{}], edit: NEXT },
];

async function prepared(edits: readonly Edit[]): Promise<Run> {
  const run = new Run();
  run.edit(MEMORY);
  for (const edit of edits) {
    run.edit(edit);
    await run.converge();
  }
  return run;
}

async function expectRest(run: Run): Promise<void> {
  await run.idle(2);
  const writes = run.writes.length;
  await run.idle(2);
  expect(run.writes.slice(writes)).toEqual([]);
}

/** It costs a member, and where no quorum is left without that one it is told. */
async function expectSafe(run: Run, peer: string): Promise<void> {
  const { voters } = run.model;
  const others = voters.filter(({ name }) => name !== peer);
  const isBorn = run.model.status()['clusterId'] !== undefined;
  losePower(run.model, peer);
  if (!isBorn || others.length * 2 > voters.length) return run.converge();
  await run.idle(5);
  run.model.nowMs += 60_000;
  await run.idle(3);
  const { reason } = run.condition('Degraded');
  expect(['DataGone', 'QuorumLost']).toContain(reason);
}

describe.each(CHANGES)('$name', ({ before, edit }) => {
  test('a crash at any write changes nothing in the end', { timeout: MANY_RUNS_MS }, async () => {
    const run = await prepared(before);
    run.edit(edit);
    const passed = new Passed();
    const left = await run.deathsIn(() => passed.note(run, () => run.converge()));
    expect(left.length).toBeGreaterThan(3);
    await expectRest(run);
    await passed.each(left, async (one) => {
      await one.converge();
      await expectRest(one);
    });
  });

  test('at any write a node may lose its power', { timeout: MANY_RUNS_MS }, async () => {
    const run = await prepared(before);
    run.edit(edit);
    const passed = new Passed();
    const moments = await run.deathsIn(() => passed.note(run, () => run.converge()));
    expect(moments.length).toBeGreaterThan(3);
    await passed.each(moments, async (one) => {
      const pods = one.model.objects('pods').map(({ metadata }) => metadata.name);
      const pod = pods[moments.indexOf(one) % pods.length];
      if (pod !== undefined) await expectSafe(one, pod.replace(/-0$/, ''));
    });
  });

  test('old reads cost time, and break nothing', { timeout: MANY_RUNS_MS }, async () => {
    const start = await prepared(before);
    start.edit(edit);
    await withOldReads(start, { readsMax: 60, runs: 20 }, async (run) => {
      await run.converge();
      run.model.kube.staleness = () => 0;
      await run.converge();
      expect(run.isReady()).toBe(true);
    });
  });
});
