// A takeover is rolled back, and somebody else has made an EtcdCluster of the new name, or claims
// of it: nothing of theirs is deleted, whether their claims have the id of a cluster or not.
import { expect, test } from 'vitest';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { CLAIMS } from '../../../shared/stateful/parts.ts';
import { Carrying } from './carrying.ts';
import { JoinCarrying } from './join-carrying.ts';
import { backJustBefore, expectConverged, once } from './lives.ts';
import { at } from './others-at-work.ts';
import { type AnyRun, namesOf } from './takeover-run.ts';
import { WipeCarrying } from './wipe-carrying.ts';

const LABELS = { 'ballast.dev/etcd-cluster': 'new' };
const EARLIER = '2025-12-31T00:00:00Z';
const LATER = '2026-11-27T00:00:00Z';
const CLAIM = 'data-new-5';

function putCluster({ kube }: AnyRun, creationTimestamp: string): void {
  const metadata = { ...at('new'), creationTimestamp };
  kube.put(ETCD_CLUSTERS, { apiVersion: 'ballast.dev/v1alpha1', kind: 'EtcdCluster', metadata });
}

function putClaim({ kube }: AnyRun, creationTimestamp: string, annotations = {}): void {
  const metadata = { ...at(CLAIM), labels: LABELS, creationTimestamp, annotations };
  kube.put(CLAIMS, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata });
}

const hasCluster = ({ kube }: AnyRun): boolean => kube.objects.has('etcdclusters/shop/new');
const hasClaim = ({ kube }: AnyRun): boolean =>
  kube.objects.has(`persistentvolumeclaims/shop/${CLAIM}`);

async function expectLeft(run: AnyRun): Promise<void> {
  await expectConverged(run);
  expect([run.status.phase, hasClaim(run)]).toEqual(['RolledBack', true]);
}

/** Rolled back once the new cluster is whole; and what somebody does once it is gone. */
function backAndThen(run: AnyRun, befalls: () => void): void {
  const back = backJustBefore('SwitchService');
  const then = once(
    () => run.status.work?.rollingBackAt !== undefined && !hasCluster(run),
    befalls,
  );
  run.befalls = () => {
    back(run);
    then(run);
  };
}

function testMode(mode: string, confirmed: () => Promise<AnyRun>): void {
  test(`${mode}: claims of an EtcdCluster that somebody makes meanwhile stay`, async () => {
    const run = await confirmed();
    backAndThen(run, () => {
      putCluster(run, LATER);
      putClaim(run, LATER);
    });
    await expectLeft(run);
    expect(hasCluster(run)).toBe(true);
  });

  test(`${mode}: claims of one that came and went meanwhile stay`, async () => {
    const run = await confirmed();
    backAndThen(run, () => putClaim(run, LATER));
    await expectLeft(run);
    expect(namesOf(run, 'persistentvolumeclaims')).not.toContain('data-new-0');
  });

  test(`${mode}: claims that were there before the new cluster stay`, async () => {
    const run = await confirmed();
    backAndThen(run, () => putClaim(run, EARLIER));
    await expectLeft(run);
  });

  test(`${mode}: a claim with the data of another cluster stays`, async () => {
    const run = await confirmed();
    const metadata = { 'ballast.dev/etcd-cluster-id': 'ab' };
    backAndThen(run, () => putClaim(run, '2026-01-01T00:00:00Z', metadata));
    await expectLeft(run);
  });
}

testMode('Restore', () => Carrying.confirmed());
testMode('Join', () => JoinCarrying.confirmed());
testMode('Wipe', () => WipeCarrying.confirmed());

test('Wipe: where somebody has taken the name his claims stay when it is rolled back', async () => {
  const run = await WipeCarrying.confirmed();
  run.befalls = () => {
    if (run.status.work === undefined || hasCluster(run)) return;
    putCluster(run, EARLIER);
    putClaim(run, EARLIER);
  };
  expect(await run.converge(10)).toBe(false);
  expect(run.condition()).toBe('True NameTaken');
  run.edit({ rollback: true });
  await expectLeft(run);
  expect(hasCluster(run)).toBe(true);
});
