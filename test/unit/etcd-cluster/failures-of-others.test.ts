// Failures that users of other operators met, and that this one must not repeat, as far as a whole
// cluster shows them: docs/design/20261125-etcd-failures-of-others.md has each with its test.
import { beforeEach, expect, test } from 'vitest';
import { podSpec } from '../../../functions/etcd-peer/render/pod.ts';
import type { MemberStatus } from '../../../shared/api/etcd-cluster.ts';
import { peer } from '../etcd-peer/samples.ts';
import { keepDown, killProcess, losePods, wipe } from './model/faults.ts';
import { losePower, MEMORY } from './model/memory.ts';
import { Run } from './model/run.ts';

let run: Run;

beforeEach(async () => {
  run = new Run();
  await run.converge();
});

const idsOf = ({ model }: Run): readonly string[] => [...model.members.keys()];

const membersIn = ({ model }: Run) =>
  model.status()['members'] as unknown as readonly MemberStatus[];

test('a short loss of pods is no wish to shrink: the size comes from the spec alone', async () => {
  const members = idsOf(run);
  const before = run.writes.length;
  losePods(run.model);
  await run.idle(3);
  await run.converge();
  const changes = run.writes.slice(before).filter((one) => /^(etcd|delete|create)/.test(one));
  expect(changes).toEqual([]);
  expect(idsOf(run)).toEqual(members);
});

test('status is not frozen while all members are down, and has their last contact', async () => {
  for (const name of ['etcd-0', 'etcd-1', 'etcd-2']) keepDown(run.model, name);
  await run.idle(3);
  expect(run.condition('Ready').status).toBe('False');
  expect(run.condition('Quorate').status).toBe('False');
  run.model.nowMs += 60_000;
  await run.idle(3);
  expect(run.condition('Ready')).toMatchObject({ status: 'Unknown', reason: 'NoContact' });
  expect(run.condition('Quorate')).toMatchObject({ status: 'Unknown', reason: 'NoContact' });
  expect(run.condition('Degraded').status).toBe('True');
  const told = membersIn(run);
  expect(told.map(({ ready, role }) => ({ ready, role }))).toEqual(
    told.map(() => ({ ready: false, role: undefined })),
  );
  const [first] = told;
  expect(run.condition('Ready').message).toContain(`since ${first?.lastContact ?? 'never'}`);
});

test('a member that restarts comes back as who it was: no hook takes it away', async () => {
  const members = idsOf(run);
  for (const name of ['etcd-0', 'etcd-1', 'etcd-2']) {
    const before = run.writes.length;
    killProcess(run.model, name);
    await run.converge();
    expect(run.writes.slice(before).filter((one) => /^(etcd|delete)/.test(one))).toEqual([]);
  }
  expect(idsOf(run)).toEqual(members);
  const pod = podSpec(peer(), false);
  expect(JSON.stringify(pod)).not.toMatch(/preStop|postStart|emptyDir/);
});

test.each([1, 3])('a wiped seed is not born again, of %i members', async (replicas) => {
  const other = new Run();
  other.edit({ replicas });
  await other.converge();
  wipe(other.model, 'etcd-0');
  await other.idle();
  // Where others are a quorum another one comes in its place.
  expect(other.isReady()).toBe(replicas > 1);
  expect([...other.model.processes.keys()]).not.toContain('etcd-0-0');
});

test('an emptyDir keeps no member from coming back: another one joins in its place', async () => {
  const other = new Run();
  other.edit(MEMORY);
  await other.converge();
  const members = idsOf(other);
  losePower(other.model, 'etcd-1');
  await other.converge();
  expect(idsOf(other).filter((id) => !members.includes(id))).toHaveLength(1);
  const names = [...other.model.members.values()].map(({ name }) => name);
  expect(names.toSorted()).toEqual(['etcd-0', 'etcd-1', 'etcd-2']);
});
test.each(['etcd-1', 'etcd-2'])(
  '%s, wiped in the pod in which it joined, does not come back under its id',
  async (name) => {
    wipe(run.model, name);
    await run.idle();
    expect(run.isReady()).toBe(true);
    expect([...run.model.processes.keys()]).not.toContain(`${name}-0`);
  },
);
