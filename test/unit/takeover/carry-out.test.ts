// A confirmed plan is carried out or rolled back, with the process dying at each single write of
// it, before and after the write is done, and with old reads. The world throws when an acknowledged
// write is lost.
import { expect, test } from 'vitest';
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { TAKEOVERS } from '../../../shared/api/takeover.ts';
import { SERVICES } from '../../../shared/stateful/parts.ts';
import { Carrying, COREOS } from './carrying.ts';
import { changesOf, expectConverged, onceAt, testLives } from './lives.ts';
import { expectDone, forcedAt, livesOf } from './restore-lives.ts';
import { namesOf, specIn } from './takeover-run.ts';
import { begin, namespace } from './world.ts';

test('it is carried out step by step, and each rests on what is written down', async () => {
  const run = await Carrying.confirmed();
  expect(await changesOf(run)).toEqual([
    'patch deployments etcd-operator',
    'etcd raise',
    'create persistentvolumeclaims over-takeover-1',
    'create etcdbackups over-takeover-1',
    'create etcdrestores over-takeover-1',
    'patch services old-client',
    'patch persistentvolumeclaims old-b',
    'patch persistentvolumeclaims old-c',
    'delete etcdclusters old',
  ]);
  expectDone(run);
  expect(run.condition('Complete')).toBe('True TakenOver');
  expect(run.status.work?.plan).toBe(run.status.plan?.id);
});

testLives(() => Carrying.confirmed(), livesOf(COREOS));

test('an alarm that somebody ends is raised again before clients are led over', async () => {
  const run = await Carrying.confirmed();
  run.befalls = onceAt('SwitchService', ({ etcds }) => {
    etcds.alarms = [];
  });
  await expectConverged(run);
  expectDone(run);
  const order = run.kube.writes.filter((one) => /^etcd|services/.test(one));
  expect(order).toEqual(['etcd raise', 'etcd raise', 'patch services old-client']);
});

test('a snapshot of a member that was behind is taken anew', async () => {
  const run = await Carrying.confirmed();
  run.befalls = ({ kube }) => {
    const found = kube.objects.get(`etcdbackups/${namespace}/over-takeover-1`);
    if (found === undefined || found['status'] !== undefined) return;
    const backup = { revision: '8', keys: 1, clusterId: '7' };
    kube.put(ETCD_BACKUPS, { ...found, status: { phase: 'Complete', backup, entries: [] } });
  };
  await expectConverged(run);
  expectDone(run);
  expect(run.status.work?.attempt).toBe(2);
});

test('the claim of the snapshot is as large and as fast as that of a member', async () => {
  const asked = { storageClassName: 'fast', resources: { requests: { storage: '40Gi' } } };
  const legacy = { pod: { persistentVolumeClaimSpec: asked } };
  const run = await Carrying.confirmed({ ...COREOS, begin: () => begin({ legacy }) });
  await expectConverged(run);
  const claim = `persistentvolumeclaims/over-takeover-${run.status.work?.attempt}`;
  expect(specIn(run, claim)).toEqual({ accessModes: ['ReadWriteOnce'], ...asked });
});

test('a write to the old members after the switch keeps them', async () => {
  const run = await Carrying.confirmed();
  run.befalls = forcedAt('OrphanClaims');
  expect(await run.converge(40)).toBe(false);
  expect(run.condition()).toBe('True WrittenAfterSwitch');
  expect(namesOf(run, 'etcdclusters')).toEqual(['new', 'old']);
});

test('another plan than the confirmed one is not begun', async () => {
  const run = await Carrying.confirmed();
  run.edit({ confirm: 'over-000000000000' });
  const before = run.writes.length;
  expect(await run.converge(3)).toBe(false);
  expect(run.condition()).toBe('True PlanChanged');
  expect(run.changesFrom(before)).toEqual([]);
  expect(run.status.work).toBeUndefined();
});

test('what is confirmed is not changed by an edit of the spec', async () => {
  const run = await Carrying.confirmed();
  run.isSnapshotHeld = true;
  await run.converge(8);
  run.edit({ into: { name: 'newer' } });
  run.isSnapshotHeld = false;
  expect(await run.converge(8)).toBe(false);
  expect(run.condition()).toBe('True SpecChanged');
  expect(namesOf(run, 'etcdclusters')).toEqual(['old']);
});

test('where a key differs clients are not led over', async () => {
  const run = await Carrying.confirmed();
  run.befalls = ({ etcds }) => {
    if (etcds.now.has('a')) etcds.now.set('a', 1);
  };
  expect(await run.converge(30)).toBe(false);
  expect(run.condition()).toBe('True KeysDiffer');
  expect(run.led).toEqual(COREOS.selector);
});

test('where the Service leads elsewhere meanwhile it waits for a person', async () => {
  const run = await Carrying.confirmed();
  run.isSnapshotHeld = true;
  await run.converge(8);
  const target = { namespace, name: 'old-client' };
  run.kube.change(SERVICES, target, { spec: { selector: { a: 'b' } } });
  await run.converge(4);
  expect(run.condition()).toBe('True ServiceChanged');
});

test('of two Takeovers of one object the younger one is refused', async () => {
  const run = await Carrying.confirmed();
  run.isSnapshotHeld = true;
  await run.converge(3);
  run.isSnapshotHeld = false;
  const first = run.kube.objects.get(`takeovers/${namespace}/over`);
  run.kube.put(TAKEOVERS, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'Takeover',
    metadata: { namespace, name: 'second' },
    spec: Object(first?.['spec']),
  });
  await run.sweep();
  const second = run.kube.objects.get(`takeovers/${namespace}/second`);
  const { refusals } = Object(second?.['status']).plan;
  expect(refusals.map(({ reason }: { reason: string }) => reason)).toEqual(['OtherTakeover']);
  expect(await run.converge()).toBe(true);
  expectDone(run);
});

test.each([
  ['still carries it', false],
  ['alone carries it', true],
])('the alarm ends where a member that is cut off from the quorum %s', async (_, isFree) => {
  const run = await Carrying.confirmed();
  run.isSnapshotHeld = true;
  await run.converge(8);
  const { alarms } = run.etcds;
  expect(alarms).toHaveLength(1);
  run.cutOff = new Map([['old-a', alarms]]);
  if (isFree) run.etcds.alarms = [];
  run.edit({ rollback: true });
  await expectConverged(run);
  expect([run.status.phase, run.etcds.alarms]).toEqual(['RolledBack', []]);
});
