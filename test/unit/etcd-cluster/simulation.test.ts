// Every change of a cluster, with a process dying at each single write of it, before and after the
// write is done; and with old reads. The model throws when a cluster is born twice, when a member
// comes back with an empty volume, when no quorum is left by our doing, or when a pod or claim
// goes without a record.
import { describe, expect, test } from 'vitest';
import { CLAIMS } from '../../../shared/stateful/parts.ts';
import { Passed } from '../stateful/passed.ts';
import { loseVolume, spoil } from './model/faults.ts';
import { withOldReads } from './model/old-reads.ts';
import { type Edit, Run } from './model/run.ts';

const MANY_RUNS_MS = 120_000;

interface Change {
  readonly name: string;
  readonly before: readonly Edit[];
  readonly edit: Edit;
}

const size = (replicas: number): Edit => ({ replicas });
const IMAGE = { image: 'quay.io/coreos/etcd:v3.6.17' };
const OLD = { image: 'quay.io/coreos/etcd:v3.5.35' };
const NEW = { image: 'quay.io/coreos/etcd:v3.6.16' };
const NEXT = { image: 'quay.io/coreos/etcd:v3.7.3' };

const CHANGES: readonly Change[] = [
  { name: 'it is created', before: [], edit: {} },
  { name: 'one is created', before: [], edit: size(1) },
  { name: 'one becomes three', before: [size(1)], edit: size(3) },
  { name: 'three become five', before: [{}], edit: size(5) },
  { name: 'five become three', before: [size(5)], edit: size(3) },
  { name: 'three become one', before: [{}], edit: size(1) },
  { name: 'another image', before: [{}], edit: IMAGE },
  { name: 'image and size at once', before: [{}], edit: { ...IMAGE, ...size(5) } },
  { name: 'a minor version', before: [OLD], edit: NEW },
];

async function prepared({ before }: Pick<Change, 'before'>): Promise<Run> {
  const run = new Run();
  for (const edit of before) {
    run.edit(edit);
    await run.converge();
  }
  return run;
}

async function expectRest(run: Run): Promise<void> {
  await run.sweep();
  await run.sweepPeers();
  const writes = run.writes.length;
  await run.sweep();
  await run.sweepPeers();
  expect(run.writes.slice(writes)).toEqual([]);
}

describe.each(CHANGES)('$name', (change) => {
  test(
    'a crash at any write, before or after it, changes nothing in the end',
    {
      timeout: MANY_RUNS_MS,
    },
    async () => {
      const run = await prepared(change);
      run.edit(change.edit);
      const passed = new Passed();
      const left = await run.deathsIn(() => passed.note(run, () => run.converge()));
      expect(left.length).toBeGreaterThan(3);
      await expectRest(run);
      await passed.each(left, async (one) => {
        await one.converge();
        await expectRest(one);
      });
    },
  );

  test('old reads cost time, and break nothing', { timeout: MANY_RUNS_MS }, async () => {
    const start = await prepared(change);
    start.edit(change.edit);
    await withOldReads(start, { readsMax: 60, runs: 20 }, async (run) => {
      await run.converge();
      run.model.kube.staleness = () => 0;
      await run.converge();
      expect(run.isReady()).toBe(true);
    });
  });
});

interface Fate {
  readonly name: string;
  readonly befalls: (run: Run) => void;
  /** A person looks after it, and does what is left to do. */
  readonly settles?: (run: Run) => void;
}

const FATES: readonly Fate[] = [
  { name: 'a volume is lost', befalls: ({ model }) => loseVolume(model, 'etcd-1') },
  { name: 'a member refuses its data', befalls: ({ model }) => spoil(model, 'etcd-1') },
  {
    name: 'it hibernates, and wakes up',
    befalls: (run) => run.edit(size(0)),
    settles: (run) => {
      if (run.model.processes.size === 0) run.edit(size(3));
    },
  },
  {
    name: 'it is deleted, and made again',
    befalls: (run) => run.deleteCluster(),
    settles: (run) => {
      if (run.model.objects('etcdclusters').length === 0) run.makeCluster();
    },
  },
];

describe.each(FATES)('$name', ({ befalls, settles = () => undefined }) => {
  const settle = async (run: Run): Promise<void> => {
    await run.idle(4);
    settles(run);
    await run.converge();
  };

  test('a crash at any write changes nothing in the end', { timeout: MANY_RUNS_MS }, async () => {
    const run = await prepared({ before: [{}] });
    const members = run.model.members.size;
    befalls(run);
    const passed = new Passed();
    const left = await run.deathsIn(() => passed.note(run, () => settle(run)));
    expect(left.length).toBeGreaterThan(3);
    const expectWhole = async (one: Run): Promise<void> => {
      await expectRest(one);
      expect(one.model.members.size).toBe(members);
    };
    await expectWhole(run);
    await passed.each(left, async (one) => {
      await settle(one);
      await expectWhole(one);
    });
  });
});

test('a lost volume is replaced once: member, peer, claim, and then another member', async () => {
  const run = await prepared({ before: [{}] });
  const before = run.writes.length;
  loseVolume(run.model, 'etcd-1');
  await run.converge();
  const deleted = run.writes.slice(before).filter((one) => /^delete|^etcd/.test(one));
  expect(deleted).toEqual([
    'etcd remove',
    'delete etcdpeers etcd-1',
    'delete statefulsets etcd-1',
    'delete persistentvolumeclaims data-etcd-1',
    'etcd add learner',
    'etcd promote',
  ]);
});

test('data that is refused is kept, and a second member that refuses is told', async () => {
  const run = await prepared({ before: [{}] });
  const before = run.writes.length;
  spoil(run.model, 'etcd-1');
  await run.idle();
  await run.converge();
  const changed = run.writes
    .slice(before)
    .filter((one) => /^delete|^etcd|^patch persistent/.test(one));
  expect(changed).toEqual([
    'etcd remove',
    'patch persistentvolumeclaims data-etcd-1',
    'delete etcdpeers etcd-1',
    'delete statefulsets etcd-1',
    'etcd add learner',
    'patch persistentvolumeclaims data-etcd-3',
    'etcd promote',
  ]);
  spoil(run.model, 'etcd-2');
  await run.idle();
  expect(run.condition('Degraded').message).toContain('Delete claim data-etcd-1');
  expect(run.model.members.size).toBe(3);
  run.model.kube.remove(CLAIMS, { namespace: 'shop', name: 'data-etcd-1' });
  await run.converge();
  expect(run.model.objects('etcdpeers').map(({ metadata }) => metadata.name)).not.toContain(
    'etcd-2',
  );
});

test('with two volumes lost nothing is deleted, and it is told', async () => {
  const run = await prepared({ before: [{}] });
  const before = run.writes.length;
  loseVolume(run.model, 'etcd-1');
  loseVolume(run.model, 'etcd-2');
  for (let sweeps = 0; sweeps < 20; sweeps += 1) {
    await run.sweep();
    await run.sweepPeers();
    run.model.tick();
  }
  expect(run.writes.slice(before).filter((one) => /^delete|^etcd/.test(one))).toEqual([]);
  expect(run.condition('Quorate')).toMatchObject({ status: 'False', reason: 'NoQuorum' });
});

test('deleted and made again it goes on with its data, as the same cluster', async () => {
  const run = await prepared({ before: [{}] });
  const members = [...run.model.members.keys()];
  run.deleteCluster();
  for (let moments = 0; moments < 5; moments += 1) {
    await run.sweepPeers();
    run.model.tick();
  }
  expect([...run.model.processes.keys()]).toEqual([]);
  run.makeCluster();
  await run.converge();
  expect([...run.model.members.keys()]).toEqual(members);
});

test('with all claims gone it does not come up empty, and says that its data is gone', async () => {
  const run = await prepared({ before: [{}] });
  run.model.removeClaims();
  for (let sweeps = 0; sweeps < 20; sweeps += 1) {
    await run.sweep();
    await run.sweepPeers();
    run.model.tick();
  }
  expect(run.condition('Degraded').reason).toBe('DataGone');
  expect([...run.model.processes.keys()]).toEqual([]);
});

test('it hibernates with its claims, and wakes up whole', async () => {
  const run = await prepared({ before: [{}] });
  const members = [...run.model.members.keys()];
  run.edit(size(0));
  for (let sweeps = 0; sweeps < 10; sweeps += 1) {
    await run.sweep();
    await run.sweepPeers();
    run.model.tick();
  }
  expect([...run.model.processes.keys()]).toEqual([]);
  expect(run.condition('Ready')).toMatchObject({ status: 'False', reason: 'Hibernating' });
  run.edit(size(3));
  await run.converge();
  expect([...run.model.members.keys()]).toEqual(members);
});

test('a cluster that was born on 3.5 stays on 3.6: a 3.7 does not read its log', async () => {
  const run = await prepared({ before: [OLD, NEW] });
  run.edit(NEXT);
  await run.sweep();
  expect(run.condition('Degraded').reason).toBe('UpgradeRefused');
});

test('one that joins amid an upgrade has the version that all speak', async () => {
  const run = await prepared({ before: [{ ...OLD, ...size(1) }] });
  run.edit({ ...NEW, ...size(3) });
  await run.converge();
  expect(run.model.processes.get('etcd-2-0')?.version).toBe('3.6.16');
});

test.each([
  ['older', OLD],
  ['newer', NEXT],
])('made again with the default image over %s data no member starts', async (_, image) => {
  const run = await prepared({ before: [image] });
  run.deleteCluster();
  for (let moments = 0; moments < 5; moments += 1) {
    await run.sweepPeers();
    run.model.tick();
  }
  run.makeCluster();
  for (let moments = 0; moments < 10; moments += 1) {
    await run.sweep();
    await run.sweepPeers();
    run.model.tick();
  }
  expect([...run.model.processes.keys()]).toEqual([]);
  expect(run.condition('Degraded').reason).toBe('UpgradeRefused');
  run.edit(image);
  await run.converge();
});
