// The upkeep of a cluster, with a process dying at each single write of it, before and after the
// write is done; and with old reads. The model throws when a member is blocked without a record or
// while another one is away, when one is removed whose data is right, or an alarm ends too early.
import { describe, expect, test } from 'vitest';
import { Passed } from '../stateful/passed.ts';
import { withOldReads } from './model/old-reads.ts';
import { Run } from './model/run.ts';
import { corrupt, dataOf, fill } from './model/upkeep-model.ts';

const EACH = ['etcd-0', 'etcd-1', 'etcd-2'];
const MANY_RUNS_MS = 120_000;
const SWEEPS_MAX = 400;

interface Trouble {
  readonly name: string;
  readonly replicas: number;
  readonly befalls: (run: Run) => void;
}

const TROUBLES: readonly Trouble[] = [
  { name: 'much is free', replicas: 3, befalls: ({ model }) => fill(model, 0.1, 0.1) },
  { name: 'history fills it', replicas: 3, befalls: ({ model }) => fill(model, 0.2, 0.8) },
  { name: 'history fills one', replicas: 1, befalls: ({ model }) => fill(model, 0.2, 0.8) },
  {
    name: 'a follower is corrupt, and the leader is blamed',
    replicas: 3,
    befalls: ({ model }) => corrupt(model, 'etcd-1', 'etcd-0'),
  },
  {
    name: 'the leader is corrupt, and a follower is blamed',
    replicas: 3,
    befalls: ({ model }) => corrupt(model, leaderOf(model), 'etcd-2'),
  },
];

const leaderOf = ({ voters, leaderId }: Run['model']): string =>
  voters.find(({ id }) => id === leaderId)?.name ?? '';

async function prepared({ replicas, befalls }: Trouble): Promise<Run> {
  const run = new Run();
  run.edit({ replicas });
  await run.converge();
  befalls(run);
  return run;
}

const isWell = ({ model }: Run): boolean =>
  model.upkeep.alarms.length === 0 &&
  model.voters.every(({ id }) => (dataOf(model, id)?.sizeBytes ?? 0) < 2 ** 30) &&
  [...model.data.values()].every(({ isCorrupt }) => !isCorrupt);

async function recover(run: Run): Promise<void> {
  for (let sweeps = 0; sweeps < SWEEPS_MAX; sweeps += 1) {
    await run.sweep();
    await run.sweepPeers();
    if (run.isReady() && isWell(run)) return run.onMoment();
    run.tick();
  }
  throw new Error(`never well: ${JSON.stringify(run.model.status(), undefined, 1)}`);
}

async function expectRest(run: Run): Promise<void> {
  for (let sweeps = 0; sweeps < 3; sweeps += 1) {
    await run.sweep();
    await run.sweepPeers();
  }
  const writes = run.writes.length;
  await run.sweep();
  await run.sweepPeers();
  expect(run.writes.slice(writes)).toEqual([]);
  const { leaving, defragmenting, compacting } = run.model.status();
  expect({ leaving, defragmenting, compacting }).toEqual({});
}

describe.each(TROUBLES)('$name', (trouble) => {
  test(
    'a crash at any write, before or after it, changes nothing in the end',
    { timeout: MANY_RUNS_MS },
    async () => {
      const run = await prepared(trouble);
      const passed = new Passed();
      const left = await run.deathsIn(() => passed.note(run, () => recover(run)));
      expect(left.length).toBeGreaterThan(3);
      await expectRest(run);
      await passed.each(left, async (one) => {
        await recover(one);
        await expectRest(one);
      });
    },
  );

  test('old reads cost time, and break nothing', { timeout: MANY_RUNS_MS }, async () => {
    const start = await prepared(trouble);
    await withOldReads(start, { readsMax: 60, runs: 20 }, async (run) => {
      await recover(run);
      expect(run.isReady()).toBe(true);
    });
  });
});

test(
  'keys that fill it are told, and nothing is forgotten twice, or copied again and again',
  { timeout: MANY_RUNS_MS },
  async () => {
    const fills = ({ model }: Run): void => fill(model, 1, 0);
    const run = await prepared({ name: '', replicas: 3, befalls: fills });
    const sweepFor = async (ms: number): Promise<void> => {
      const endsAtMs = run.model.nowMs + ms;
      while (run.model.nowMs < endsAtMs) {
        await run.sweep();
        await run.sweepPeers();
        run.model.tick();
      }
    };
    await sweepFor(60_000);
    const degraded = run.condition('Degraded');
    expect(degraded).toMatchObject({ status: 'True', reason: 'AlarmNOSPACE' });
    expect(degraded.message).toContain('/shop/: 7');
    await sweepFor(100_000);
    const upkeep = run.writes.filter((one) => /^etcd (compact|defragment)/.test(one));
    // None of them says when it is done, so each is asked twice.
    const copies = [...EACH, ...EACH].map(() => 'etcd defragment');
    expect(upkeep.toSorted()).toEqual(['etcd compact', ...copies]);
  },
);
