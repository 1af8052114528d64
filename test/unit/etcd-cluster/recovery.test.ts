// A quorum that is lost for good, with a process dying at each single write of its recovery, before
// and after the write is done; and with old reads. The model throws when a member is forced to go
// on alone a second time, beside pods of others, or while their claims could be brought back.
import { expect, test } from 'vitest';
import { PODS } from '../../../shared/stateful/parts.ts';
import { Passed } from '../stateful/passed.ts';
import { hideVolume, killProcess, letStart, loseVolume } from './model/faults.ts';
import { labelClaim, takeLabelOffClaim, takeLabelOffPod } from './model/labels.ts';
import { withOldReads } from './model/old-reads.ts';
import { Run } from './model/run.ts';

const MANY_RUNS_MS = 120_000;
const LOST = ['etcd-1', 'etcd-2'];

/** Three members, of which two lose their volumes; nobody has confirmed anything. */
async function withoutQuorum(isForGood = true): Promise<Run> {
  const run = new Run();
  await run.converge();
  for (const name of LOST) {
    if (isForGood) loseVolume(run.model, name);
    else hideVolume(run.model, name);
  }
  await run.idle();
  return run;
}

const claimsOf = (run: Run): readonly string[] =>
  run.model.objects('persistentvolumeclaims').map(({ metadata }) => metadata.uid);

const destroyed = (writes: readonly string[]): readonly string[] =>
  writes.filter((one) => /^delete|^etcd/.test(one));

test('a lost quorum is no end: it waits, and says what could be done', async () => {
  const run = await withoutQuorum();
  const { status, reason, message } = run.condition('Degraded');
  expect({ status, reason }).toEqual({ status: 'True', reason: 'QuorumLost' });
  expect(message).toContain('etcd-0 can go on alone');
  expect(message).toMatch(
    /kubectl -n shop patch etcdcluster etcd .*"confirm":"etcd-0-[0-9a-f]{12}"/,
  );
  const before = run.writes.length;
  await run.idle();
  expect(run.writes.slice(before)).toEqual([]);
  expect(run.model.forced).toBe(0);
});

test('a recovery makes no two clusters: learners follow one survivor', async () => {
  const run = await withoutQuorum();
  const claims = claimsOf(run);
  const before = run.writes.length;
  expect(run.confirm()).toBe('etcd-0');
  await run.converge();
  const done = destroyed(run.writes.slice(before));
  expect(done.slice(0, 4).toSorted()).toEqual([
    'delete etcdpeers etcd-1',
    'delete etcdpeers etcd-2',
    'delete statefulsets etcd-1',
    'delete statefulsets etcd-2',
  ]);
  expect(done.slice(4)).toEqual([
    'delete pods etcd-0-0',
    'delete pods etcd-0-0',
    'etcd add learner',
    'etcd add learner',
    'etcd promote',
    'etcd promote',
  ]);
  expect(claimsOf(run)).toEqual(expect.arrayContaining([...claims]));
  expect(run.model.forced).toBe(1);
  expect(run.model.voters.map(({ name }) => name).toSorted()).toEqual([
    'etcd-0',
    'etcd-3',
    'etcd-4',
  ]);
});

test(
  'a crash at any write of it, before or after, forces once and loses nothing',
  { timeout: MANY_RUNS_MS },
  async () => {
    const run = await withoutQuorum();
    run.confirm();
    const passed = new Passed();
    const left = await run.deathsIn(() => passed.note(run, () => run.converge()));
    expect(left.length).toBeGreaterThan(15);
    const expectEnd = async (one: Run): Promise<void> => {
      expect(one.model.forced).toBe(1);
      await one.idle(1);
      const before = one.writes.length;
      await one.idle(1);
      expect(one.writes.slice(before)).toEqual([]);
    };
    await expectEnd(run);
    await passed.each(left, async (one) => {
      await one.converge();
      await expectEnd(one);
    });
  },
);

test('old reads cost time, and force nothing twice', { timeout: MANY_RUNS_MS }, async () => {
  const start = await withoutQuorum();
  start.confirm();
  await withOldReads(start, { readsMax: 120, runs: 40 }, async (run) => {
    await run.converge();
    run.model.kube.staleness = () => 0;
    await run.converge();
    expect(run.model.forced).toBe(1);
  });
});

test(
  'the pod of the survivor restarts at any moment, and is not forced again',
  { timeout: MANY_RUNS_MS },
  async () => {
    const start = await withoutQuorum();
    start.confirm();
    const passed = new Passed();
    const left = await start.deathsIn(() => passed.note(start, () => start.converge()));
    expect(start.model.forced).toBe(1);
    await passed.each(left, async (one) => {
      killProcess(one.model, 'etcd-0');
      await one.converge();
      expect(one.model.forced).toBe(1);
    });
  },
);

test('pods without their label are there all the same: nobody is forced beside them', async () => {
  const run = await withoutQuorum(false);
  run.model.nowMs += 600_000;
  for (const name of LOST) takeLabelOffPod(run.model, name);
  await run.idle();
  run.confirm();
  await run.idle();
  run.model.nowMs += 120_000;
  await run.idle(2);
  expect(run.model.forced).toBe(0);
  expect(run.condition('Degraded')).toMatchObject({ status: 'True', reason: 'LabelLost' });
  expect(run.condition('Degraded').message).toContain('Pod etcd-1-0 has lost its label');
  for (const name of LOST) run.model.kube.remove(PODS, { namespace: 'shop', name: `${name}-0` });
  await run.converge();
  expect(run.model.forced).toBe(1);
});

test('a claim whose label somebody took off is kept aside once it has it again', async () => {
  const run = await withoutQuorum(false);
  run.model.nowMs += 600_000;
  takeLabelOffClaim(run.model, 'etcd-1');
  await run.idle();
  run.confirm();
  await run.idle();
  run.model.nowMs += 120_000;
  await run.idle(2);
  expect(run.model.forced).toBe(0);
  expect(run.condition('Degraded').message).toContain('Claim data-etcd-1 has lost its label');
  labelClaim(run.model, 'etcd-1');
  await run.converge();
  expect(run.model.forced).toBe(1);
});

test('a confirmation is of no use for the next loss', async () => {
  const run = await withoutQuorum();
  run.confirm();
  await run.converge();
  loseVolume(run.model, 'etcd-0');
  loseVolume(run.model, 'etcd-3');
  await run.idle();
  expect(run.condition('Degraded').message).toContain('etcd-4 can go on alone');
  expect(run.model.forced).toBe(1);
  run.confirm();
  await run.converge();
  expect(run.model.forced).toBe(2);
});

test('a confirmation after the quorum is back is refused', async () => {
  const run = await withoutQuorum(false);
  const members = [...run.model.members.keys()];
  for (const name of LOST) letStart(run.model, name);
  run.confirm();
  await run.idle();
  expect(run.condition('Degraded')).toMatchObject({ status: 'True', reason: 'RecoveryRefused' });
  expect(run.model.forced).toBe(0);
  run.edit({ recovery: undefined });
  await run.converge();
  expect([...run.model.members.keys()]).toEqual(members);
});

test(
  'lost members that come back at any moment never form a second cluster',
  { timeout: MANY_RUNS_MS },
  async () => {
    const start = await withoutQuorum(false);
    start.confirm();
    const left = await start.deathsIn(() => start.converge());
    const ends = new Set<number>();
    const passed = new Passed();
    await passed.each(left, async (one) => {
      for (const name of LOST) letStart(one.model, name);
      await one.idle(5);
      one.edit({ recovery: undefined });
      await one.converge();
      ends.add(one.model.forced);
    });
    expect(ends).toEqual(new Set([0, 1]));
  },
);
