// Births that somebody disturbs, at each write of them: the spec changes, a Secret is deleted, a
// claim goes, or a member never starts.
import { describe, expect, test } from 'vitest';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import { SECRETS, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { Passed } from '../stateful/passed.ts';
import { NAMESPACE } from './model/etcd-model.ts';
import { endPeers, holdClaim, killProcess, letStart, spoil, wipe } from './model/faults.ts';
import { MEMORY } from './model/memory.ts';
import { type Edit, Run } from './model/run.ts';

const MANY_RUNS_MS = 120_000;
const FIVE = { replicas: 5 };

/** Another run for each write of a birth, with what was done by then. */
async function moments(spec: Edit): Promise<readonly Run[]> {
  const run = new Run();
  run.edit(spec);
  return run.deathsIn(() => run.converge());
}

const wantedOf = ({ model }: Run): number =>
  Number(Object(model.objects('etcdclusters')[0]?.['spec']).replicas);

/** Does this at each write of a birth, and lets each of them come to rest. */
async function expectBorn(
  spec: Edit,
  how: (run: Run) => Promise<void> | void,
  isMeant: (run: Run) => boolean = () => true,
): Promise<void> {
  const runs = (await moments(spec)).filter(isMeant);
  expect(runs.length).toBeGreaterThan(3);
  await new Passed().each(runs, async (run) => {
    await how(run);
    await run.converge();
    expect(run.model.voters).toHaveLength(wantedOf(run));
    expect(run.model.members.size).toBe(wantedOf(run));
  });
}

function removeAll({ kube }: Run['model'], of: ResourceRef): void {
  for (const { metadata } of kube.of(of.resource).values()) {
    kube.remove(of, { namespace: NAMESPACE, name: metadata.name });
  }
}

const STARTS = { namespace: NAMESPACE, name: 'etcd-starts' };

/** One that has data. */
const learnerIn = ({ members, data }: Run['model']): string | undefined =>
  [...data.values()].map(({ memberId }) => members.get(memberId)).find((one) => one?.isLearner)
    ?.name;

const EDITS: readonly (readonly [name: string, edits: readonly Edit[]])[] = [
  ['three are enough', [{ replicas: 3 }]],
  ['one is enough', [{ replicas: 1 }]],
  ['three are enough, and then not', [{ replicas: 3 }, { replicas: 5 }]],
  ['seven are wanted', [{ replicas: 7 }]],
  ['it is paused, and goes on', [{ paused: true }, { paused: false }]],
];

const ROLLS: readonly (readonly [name: string, edit: Edit])[] = [
  ['another image', { image: 'quay.io/coreos/etcd:v3.6.17' }],
  ['a minor version', { image: 'quay.io/coreos/etcd:v3.7.3' }],
  ['the spec rolls', { snapshotCount: 5_000 }],
];

describe('amid a birth', () => {
  test.each(EDITS)('of five: %s', { timeout: MANY_RUNS_MS }, async (_, edits) => {
    await expectBorn(FIVE, async (run) => {
      for (const edit of edits) {
        run.edit(edit);
        await run.idle(1);
      }
    });
  });

  test.each(ROLLS)('of three: %s', { timeout: MANY_RUNS_MS }, (_, edit) =>
    expectBorn({}, (run) => run.edit(edit)),
  );

  test.each([
    ['', () => undefined],
    [', and has lost its Secret', ({ model }: Run) => model.kube.remove(SECRETS, STARTS)],
  ])('it hibernates, and wakes up%s', { timeout: MANY_RUNS_MS }, async (_, asleep) => {
    await expectBorn({}, async (run) => {
      run.edit({ replicas: 0 });
      await run.idle(6);
      asleep(run);
      await run.idle(2);
      run.edit({ replicas: 3 });
    });
  });

  test('somebody deletes the Secret with the starts', { timeout: MANY_RUNS_MS }, () =>
    expectBorn({}, ({ model }) => model.kube.remove(SECRETS, STARTS)),
  );

  test('the EtcdCluster is deleted, and made again', { timeout: MANY_RUNS_MS }, () =>
    expectBorn({}, async (run) => {
      run.deleteCluster();
      await run.idle(6);
      run.makeCluster();
    }),
  );

  test.each<[what: string, how: (run: Run) => void]>([
    ['all StatefulSets', ({ model }) => removeAll(model, STATEFUL_SETS)],
    ['all EtcdPeers', ({ model }) => endPeers(model)],
  ])('somebody deletes %s', { timeout: MANY_RUNS_MS }, async (_, how) => {
    await expectBorn({}, how);
  });

  test('a learner refuses its data', { timeout: MANY_RUNS_MS }, () =>
    expectBorn(
      {},
      ({ model }) => spoil(model, learnerIn(model) ?? ''),
      ({ model }) => learnerIn(model) !== undefined,
    ),
  );

  test('the claim of the first one goes before it is known', { timeout: MANY_RUNS_MS }, () =>
    expectBorn(
      {},
      ({ model }) => model.removeClaims(),
      ({ model }) => model.status()['clusterId'] === undefined,
    ),
  );
});

test('a Secret that is put back is closed again, and no member comes back empty', async () => {
  const run = new Run();
  run.edit({});
  const { kube } = run.model;
  const copies = new Map<string, KubeObject>();
  kube.aroundWrite = () => {
    const now = kube.objects.get(`secrets/${NAMESPACE}/${STARTS.name}`);
    if (now !== undefined) copies.set(JSON.stringify(now['data']), now);
  };
  await run.converge();
  expect(copies.size).toBeGreaterThan(3);
  for (const { data } of copies.values()) {
    for (const peer of ['etcd-0', 'etcd-1', 'etcd-2']) {
      const one = run.copy();
      one.model.kube.change(SECRETS, STARTS, { data });
      // No event tells of it: it is read again by then.
      one.model.nowMs += 300_000;
      await one.sweep();
      wipe(one.model, peer);
      await one.idle(4);
      expect([...one.model.processes.keys()]).not.toContain(`${peer}-0`);
    }
  }
});

test('it wakes up after somebody has deleted the Secret in its sleep', async () => {
  const run = new Run();
  await run.converge();
  const members = [...run.model.members.keys()];
  run.edit({ replicas: 0 });
  await run.idle(6);
  run.model.kube.remove(SECRETS, STARTS);
  run.edit({ replicas: 3 });
  await run.converge();
  expect([...run.model.members.keys()]).toEqual(members);
});

test.each([
  ['on volumes', {}],
  ['in memory', MEMORY],
])('killed all together, without the Secret, they come back %s', async (_, spec) => {
  const run = new Run();
  run.edit(spec);
  await run.converge();
  const members = [...run.model.members.keys()];
  run.model.kube.remove(SECRETS, STARTS);
  for (const peer of ['etcd-0', 'etcd-1', 'etcd-2']) killProcess(run.model, peer);
  await run.idle();
  expect([...run.model.processes.keys()].toSorted()).toEqual(['etcd-0-0', 'etcd-1-0', 'etcd-2-0']);
  expect([...run.model.members.keys()]).toEqual(members);
});

describe('a member that can never start', () => {
  /** Its claim gets no volume, and its pod no node, whenever it is made. */
  function stuck(peer: string): Run {
    const run = new Run();
    run.edit(FIVE);
    const { kube } = run.model;
    kube.aroundWrite = () => {
      const claim = kube.objects.get(`persistentvolumeclaims/${NAMESPACE}/data-${peer}`);
      if (claim !== undefined && claim['status'] === undefined) holdClaim(run.model, peer);
    };
    return run;
  }

  const votersOf = ({ model }: Run) => model.voters.map(({ name }) => name).toSorted();

  test.each(['etcd-1', 'etcd-3'])('of five leaves four that vote: %s', async (peer) => {
    const run = stuck(peer);
    await run.idle(5);
    expect(votersOf(run)).toEqual(['etcd-0']);
    run.model.nowMs += 60_000;
    await run.idle(20);
    const others = ['etcd-0', 'etcd-1', 'etcd-2', 'etcd-3', 'etcd-4'].filter((one) => one !== peer);
    expect(votersOf(run)).toEqual(others);
    letStart(run.model, peer);
    await run.converge();
    expect(votersOf(run)).toHaveLength(5);
  });

  test.each([1, 3])('is taken away where %i are enough', async (replicas) => {
    const run = stuck('etcd-3');
    await run.idle(5);
    run.edit({ replicas });
    await run.converge();
    expect(votersOf(run)).toEqual(['etcd-0', 'etcd-1', 'etcd-2'].slice(0, replicas));
    const claims = run.model.objects('persistentvolumeclaims').map(({ metadata }) => metadata.name);
    expect(claims).not.toContain('data-etcd-3');
  });
});
