// Births that somebody disturbs, at each write of them: the spec changes, a Secret is deleted, a
// claim goes, or a member never starts.
import { describe, expect, test } from 'vitest';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { Passed } from '../stateful/passed.ts';
import { NAMESPACE } from './model/etcd-model.ts';
import { holdClaim, letStart, spoil } from './model/faults.ts';
import { type Edit, Run } from './model/run.ts';

const MANY_RUNS_MS = 120_000;
const FIVE = { replicas: 5 };

/** Another run for each write of a birth of five, with what was done by then. */
async function moments(spec: Edit = FIVE): Promise<readonly Run[]> {
  const run = new Run();
  run.edit(spec);
  return run.deathsIn(() => run.converge());
}

/** One that has data. */
const learnerIn = ({ members, data }: Run['model']): string | undefined =>
  [...data.values()].map(({ memberId }) => members.get(memberId)).find((one) => one?.isLearner)
    ?.name;

const EDITS: readonly (readonly [name: string, edit: Edit, voters: number])[] = [
  ['three are enough', { replicas: 3 }, 3],
  ['one is enough', { replicas: 1 }, 1],
  ['seven are wanted', { replicas: 7 }, 7],
  ['another image', { image: 'quay.io/coreos/etcd:v3.6.17' }, 5],
  ['a minor version', { image: 'quay.io/coreos/etcd:v3.7.3' }, 5],
  ['the spec rolls', { snapshotCount: 5_000 }, 5],
];

describe('amid a birth of five', () => {
  test.each(EDITS)('%s', { timeout: MANY_RUNS_MS }, async (_, edit, voters) => {
    const passed = new Passed();
    await passed.each(await moments(), async (run) => {
      run.edit(edit);
      await run.converge();
      expect(run.model.voters).toHaveLength(voters);
      expect(run.model.members.size).toBe(voters);
    });
  });

  test('it is paused, and goes on', { timeout: MANY_RUNS_MS }, async () => {
    const passed = new Passed();
    await passed.each(await moments(), async (run) => {
      run.edit({ paused: true });
      await run.idle(4);
      run.edit({ paused: false });
      await run.converge();
      expect(run.model.voters).toHaveLength(5);
    });
  });

  test('it hibernates, and wakes up', { timeout: MANY_RUNS_MS }, async () => {
    const passed = new Passed();
    await passed.each(await moments(), async (run) => {
      run.edit({ replicas: 0 });
      await run.idle(6);
      run.edit({ replicas: 5 });
      await run.converge();
      expect(run.model.voters).toHaveLength(5);
    });
  });

  test('somebody deletes the Secret with the starts', { timeout: MANY_RUNS_MS }, async () => {
    const passed = new Passed();
    await passed.each(await moments(), async (run) => {
      run.model.kube.remove(SECRETS, { namespace: NAMESPACE, name: 'etcd-starts' });
      await run.converge();
      expect(run.model.voters).toHaveLength(5);
    });
  });

  test('the EtcdCluster is deleted, and made again', { timeout: MANY_RUNS_MS }, async () => {
    const passed = new Passed();
    await passed.each(await moments(), async (run) => {
      run.deleteCluster();
      await run.idle(6);
      run.makeCluster();
      run.edit(FIVE);
      await run.converge();
      expect(run.model.voters).toHaveLength(5);
    });
  });

  test('a learner refuses its data', { timeout: MANY_RUNS_MS }, async () => {
    const passed = new Passed();
    const runs = (await moments()).filter(({ model }) => learnerIn(model) !== undefined);
    expect(runs.length).toBeGreaterThan(3);
    await passed.each(runs, async (run) => {
      spoil(run.model, learnerIn(run.model) ?? '');
      await run.converge();
      expect(run.model.voters).toHaveLength(5);
    });
  });

  test('the claim of the first one goes, before it is known', { timeout: MANY_RUNS_MS }, async () => {
    const passed = new Passed();
    const early = (await moments()).filter(({ model }) => model.status()['clusterId'] === undefined);
    expect(early.length).toBeGreaterThan(3);
    await passed.each(early, async (run) => {
      run.model.removeClaims();
      await run.converge();
      expect(run.model.voters).toHaveLength(5);
    });
  });
});

describe('a member that can never start', () => {
  /** Its claim gets no volume, and its pod no node. */
  function stuck(peer: string): Run {
    const run = new Run();
    run.edit(FIVE);
    const { kube } = run.model;
    kube.aroundWrite = () => {
      if (!kube.objects.has(`persistentvolumeclaims/${NAMESPACE}/data-${peer}`)) return;
      kube.aroundWrite = () => undefined;
      holdClaim(run.model, peer);
    };
    return run;
  }

  const votersOf = ({ model }: Run) => model.voters.map(({ name }) => name).toSorted();

  test('of five leaves three that vote', async () => {
    const run = stuck('etcd-3');
    await run.idle(5);
    expect(votersOf(run)).toEqual(['etcd-0']);
    await run.idle(70);
    expect(votersOf(run)).toEqual(['etcd-0', 'etcd-1', 'etcd-2']);
    letStart(run.model, 'etcd-3');
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
