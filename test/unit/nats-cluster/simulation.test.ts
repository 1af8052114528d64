// Every change of a cluster, with the process dying at each single write of it, before and after
// the write is done; and with old reads. The model throws when two servers are away at our wish,
// or a claim goes without a record or with the last copy of a stream.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { NETWORK_POLICIES, PODS, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { Passed } from '../stateful/passed.ts';
import { type Edit, Run } from './model/run.ts';
import { type ClusterModel, NAME, NAMESPACE } from './model/cluster-model.ts';

const MANY_RUNS_MS = 120_000;

interface Change {
  readonly name: string;
  readonly before: readonly Edit[];
  readonly edit: Edit;
  /** Writes that nobody could do without, status and events aside. */
  readonly least: number;
}

const size = (replicas: number): Edit => ({ replicas });
const IMAGE = { image: 'nats:2.15.2' };
const LARGER = { jetStream: { fileStorage: { size: '20Gi' } } };

const CHANGES: readonly Change[] = [
  // Two Secrets with passwords, the configuration, two Services, a budget, a policy and the set.
  { name: 'it is created', before: [], edit: {}, least: 9 },
  // The template, and three pods.
  { name: 'another image', before: [{}], edit: IMAGE, least: 4 },
  // The certificates, the url of the user, whom we are to believe, and the configuration; servers
  // are told over NATS.
  // Certificates, who runs without them, the configuration, the policy, and that nobody does now.
  { name: 'TLS for clients', before: [{}], edit: { tls: { clients: {} } }, least: 6 },
  { name: 'three become five', before: [{}], edit: size(5), least: 2 },
  // The configuration, then for each server the StatefulSet and a claim.
  { name: 'five become three', before: [size(5)], edit: size(3), least: 5 },
  // Three claims, the StatefulSet away and back, and the configuration.
  { name: 'claims grow', before: [{}], edit: LARGER, least: 6 },
  // The same for three, the configuration but once, and for each server that goes two.
  {
    name: 'claims grow while five become three',
    before: [size(5)],
    edit: { ...LARGER, ...size(3) },
    least: 10,
  },
  { name: 'image and size at once', before: [{}], edit: { ...IMAGE, ...size(5) }, least: 7 },
];

async function prepared({ before }: Change): Promise<Run> {
  const run = new Run();
  for (const edit of before) {
    run.edit(edit);
    await run.converge();
  }
  if (before.length > 0) {
    run.model.addStream('ORDERS', ['nats-0', 'nats-1', 'nats-2']);
    const last = run.model.size - 1;
    run.model.addStream('ELSEWHERE', ['nats-0', `nats-${last - 1}`, `nats-${last}`]);
    await run.converge();
  }
  return run;
}

const isObject = (write: string): boolean =>
  !write.includes('natsclusters/status') && !write.startsWith('nats ');

async function expectRest(run: Run): Promise<void> {
  await run.sweep();
  const { kube } = run.model;
  const [reads, writes] = [kube.reads, run.writes.length];
  await run.sweep();
  expect({ reads: kube.reads - reads, writes: run.writes.length - writes }).toEqual({
    // The list of clusters, the list of pods, and each Secret of ours.
    reads: run.model.kube.objects.has(`secrets/${NAMESPACE}/nats-tls`) ? 6 : 5,
    writes: 0,
  });
}

describe.each(CHANGES)('$name', (change) => {
  test('it ends, with no write more than it takes, and then rests', async () => {
    const run = await prepared(change);
    const before = run.writes.length;
    run.edit(change.edit);
    await run.converge();
    const written = run.writes.slice(before).filter(isObject);
    expect(written.length / change.least).toBeLessThanOrEqual(1);
    await expectRest(run);
  });

  test(
    'a crash at any write, before or after it, changes nothing in the end',
    { timeout: MANY_RUNS_MS },
    async () => {
      const run = await prepared(change);
      run.edit(change.edit);
      const passed = new Passed();
      const left = await run.deathsIn(() => passed.note(run, () => run.converge()));
      expect(left.length).toBeGreaterThan(change.least);
      const expectEnd = async (one: Run): Promise<void> => {
        await expectRest(one);
        expect(one.isReady()).toBe(true);
      };
      await expectEnd(run);
      await passed.each(left, async (one) => {
        await one.converge();
        await expectEnd(one);
      });
    },
  );

  test('old reads cost time, and break nothing', { timeout: MANY_RUNS_MS }, async () => {
    const start = await prepared(change);
    const sound = start.copy();
    sound.edit(change.edit);
    const passed = new Passed();
    await passed.note(sound, () => sound.converge());
    const ages = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 20, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(ages, async (old) => {
        const run = start.copy();
        run.edit(change.edit);
        let next = 0;
        run.model.kube.staleness = () => old[next++] ?? 0;
        const drive = async (): Promise<void> => {
          await run.converge();
          run.model.kube.staleness = () => 0;
          await run.converge();
          expect(run.isReady()).toBe(true);
        };
        await passed.meet(run, drive, () => next >= old.length);
      }),
      { numRuns: 30, seed: 1 },
    );
  });
});

test(
  'claims of before there was a choice keep their access mode while they grow',
  { timeout: MANY_RUNS_MS },
  async () => {
    const mode = (accessMode?: string): Edit => ({ jetStream: { fileStorage: { accessMode } } });
    const old = { ...(CHANGES[5] as Change), before: [mode('ReadWriteOnce'), mode()] };
    const run = await prepared(old);
    run.edit(old.edit);
    const left = await run.deathsIn(() => run.converge());
    expect(left.length).toBeGreaterThan(old.least);
    for (const one of left) await one.converge();
    const modes = [run, ...left].map(({ model }) => model.accessModes());
    expect(modes).toEqual(modes.map(() => ['ReadWriteOnce']));
  },
);

test('a pod that others made anew between the look and the delete is left alone', async () => {
  const run = await prepared(CHANGES[1] as Change);
  const { kube } = run.model;
  run.edit(IMAGE);
  let others = 0;
  kube.beforeDelete = (resource, name) => {
    if (resource !== 'pods' || others > 0) return;
    others += 1;
    run.model.stopServer(name);
    kube.remove(PODS, { namespace: NAMESPACE, name });
    for (let moments = 0; moments < 5; moments += 1) run.model.tick();
  };
  const before = run.writes.length;
  await run.converge();
  const deleted = run.writes.slice(before).filter((one) => one.startsWith('delete pods'));
  expect(others).toBe(1);
  expect(deleted).toEqual(['delete pods nats-1', 'delete pods nats-0']);
});

test.each([0, 1, 2])(
  'servers that somebody scaled away by hand, to %d, come back',
  async (left) => {
    const run = await prepared(CHANGES[1] as Change);
    const at = { namespace: NAMESPACE, name: 'nats' };
    run.model.kube.change(STATEFUL_SETS, at, { spec: { replicas: left } });
    for (let ordinal = left; ordinal < 3; ordinal += 1) {
      run.model.stopServer(`nats-${ordinal}`);
      run.model.kube.remove(PODS, { namespace: NAMESPACE, name: `nats-${ordinal}` });
    }
    run.model.nowMs += 400_000;
    await run.sweep();
    await run.converge();
    expect(run.model.size).toBe(3);
  },
);

test('where claims cannot grow all else is done, and that is told', async () => {
  const run = await prepared(CHANGES[1] as Change);
  const storageClass = { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' };
  run.model.kube.change(storageClass, { name: 'standard' }, { allowVolumeExpansion: false });
  run.edit({ ...LARGER, ...IMAGE, ...size(5) });
  const isTold = () => run.condition('Degraded').reason === 'StorageCannotGrow';
  for (let sweeps = 0; sweeps < 40 && !isTold(); sweeps += 1) await run.sweep();
  expect(run.condition('Degraded').message).toContain('data-nats-0 stays at 10Gi');
  const versions = [...run.model.servers.values()].map(({ version }) => version);
  expect(versions).toEqual(['2.15.2', '2.15.2', '2.15.2', '2.15.2', '2.15.2']);
  expect(run.condition('Ready').status).toBe('False');
});

test('what the API server refuses is told, and tried again', async () => {
  const run = await prepared(CHANGES[1] as Change);
  run.edit(IMAGE);
  run.model.kube.refuses = (resource) => resource === 'statefulsets';
  await run.sweep();
  expect(run.condition('Degraded').reason).toBe('ApiServerRefused');
  expect(run.condition('Degraded').message).toContain('requests must be less than or equal to');
  run.model.kube.refuses = () => false;
  await run.converge();
});

test('where no policy of the network may be made all else is done, and that is told', async () => {
  const run = await prepared(CHANGES[1] as Change);
  const policy = `networkpolicies/${NAMESPACE}/nats`;
  run.model.kube.remove(NETWORK_POLICIES, { namespace: NAMESPACE, name: 'nats' });
  run.model.kube.refuses = (resource) => resource === 'networkpolicies';
  run.forget();
  run.edit(IMAGE);
  const isTold = () => run.condition('Degraded').reason === 'NetworkPolicyRefused';
  for (let sweeps = 0; sweeps < 60 && !isTold(); sweeps += 1) await run.sweep();
  expect(run.condition('Degraded').message).toMatch(
    /NetworkPolicy shop\/nats cannot be made .* All else goes on, .* spec\.networkPolicy to None/,
  );
  const versions = [...run.model.servers.values()].map(({ version }) => version);
  expect(versions).toEqual(['2.15.2', '2.15.2', '2.15.2']);
  run.model.kube.refuses = () => false;
  run.model.nowMs += 400_000;
  await run.converge();
  expect(run.model.kube.objects.has(policy)).toBe(true);
});

test('what others said while nobody looked is taken back by the next look', async () => {
  const run = await prepared(CHANGES[1] as Change);
  const said = {
    reason: 'NotSwept',
    message: 'Nobody looked.',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const conditions = ['Ready', 'Progressing'].map((type) => ({
    type,
    status: 'Unknown',
    ...said,
  }));
  run.model.kube.change(
    NATS_CLUSTERS,
    { namespace: NAMESPACE, name: NAME },
    {
      status: { conditions },
    },
  );
  expect(run.isReady()).toBe(false);
  await run.sweep();
  expect(run.condition('Ready')).toMatchObject({ status: 'True', reason: 'Whole' });
  expect(run.condition('Progressing')).toMatchObject({ status: 'False', reason: 'Settled' });
});

test('a lost volume is replaced once, while the others are whole', async () => {
  const run = await prepared(CHANGES[1] as Change);
  run.model.loseVolume('nats-2');
  await run.sweep();
  run.model.nowMs += 400_000;
  await run.converge();
  const deleted = run.writes.filter((one) => one.startsWith('delete persistentvolumeclaims'));
  expect(deleted).toEqual(['delete persistentvolumeclaims data-nats-2']);
});

/** The StatefulSet controller makes the next pod before it sees that the claim is being deleted. */
function makePodBeforeClaimGoes({ kube }: ClusterModel, name: string): void {
  const { onDelete } = kube;
  kube.onDelete = (resource, object) => {
    onDelete(resource, object);
    if (resource !== 'persistentvolumeclaims') return;
    const at = { namespace: NAMESPACE, name };
    const pod = kube.objects.get(`pods/${NAMESPACE}/${name}`);
    if (pod === undefined) throw new Error(`there is no pod ${name}`);
    kube.remove(PODS, at);
    kube.put(PODS, pod);
    const status = 'False';
    const [reason, lastTransitionTime] = ['Unschedulable', '2026-01-02T00:00:00Z'];
    const conditions = [{ type: 'PodScheduled', status, reason, lastTransitionTime }];
    kube.change(PODS, at, { status: { conditions } });
  };
}

test('a pod that was made before its lost claim was gone is made anew, with a claim', async () => {
  const run = await prepared(CHANGES[1] as Change);
  run.model.loseVolume('nats-2');
  makePodBeforeClaimGoes(run.model, 'nats-2');
  await run.converge();
  const deleted = run.writes.filter((one) => one.startsWith('delete'));
  expect(deleted).toEqual(['delete persistentvolumeclaims data-nats-2', 'delete pods nats-2']);
});

test('a volume that is lost again and again is replaced each time', async () => {
  const run = await prepared(CHANGES[1] as Change);
  for (let times = 0; times < 5; times += 1) {
    run.model.loseVolume('nats-2');
    await run.converge();
  }
  expect(run.warnings).not.toContain('NoEffect');
  const deleted = run.writes.filter((one) => one.startsWith('delete persistentvolumeclaims'));
  expect(deleted).toHaveLength(5);
});

test('a second server that is away keeps the volume of the first as it is', async () => {
  const run = await prepared(CHANGES[1] as Change);
  run.model.loseVolume('nats-2');
  run.model.loseVolume('nats-1');
  for (let sweeps = 0; sweeps < 20; sweeps += 1) await run.sweep();
  expect(run.writes.filter((one) => one.startsWith('delete'))).toEqual([]);
});
