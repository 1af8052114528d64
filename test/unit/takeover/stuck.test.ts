// A plan that cannot go on says so, deletes nothing and leads nobody over, however long it waits;
// and it can be rolled back.
import { expect, test } from 'vitest';
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { Carrying } from './carrying.ts';
import { operatorAppears } from './lives.ts';
import { namesOf } from './takeover-run.ts';
import { at } from './others-at-work.ts';
import { DEPLOYMENTS, namespace } from './world.ts';

const LONG = 40;
const FOUND = ['services', 'pods', 'persistentvolumeclaims', 'etcdclusters'];

function failSnapshot({ kube }: Carrying): void {
  const found = kube.objects.get(`etcdbackups/${namespace}/over-takeover-1`);
  if (found === undefined || found['status'] !== undefined) return;
  kube.put(ETCD_BACKUPS, { ...found, status: { phase: 'Failed' } });
}

function changeKey({ etcds }: Carrying): void {
  if (etcds.now.has('a')) etcds.now.set('a', 1);
}

/** Somebody scales it up whenever it is at rest. */
function fight({ kube, status }: Carrying): void {
  if (status.work === undefined || status.work.rollingBackAt !== undefined) return;
  kube.change(DEPLOYMENTS, at('etcd-operator'), { spec: { replicas: 1 } });
}

/** From when writers are stopped until somebody rolls it back. */
function loseQuorum(run: Carrying): void {
  const isFrozen = run.step === 'Snapshot';
  if (isFrozen) run.isQuorate = false;
}

test.each([
  ['a snapshot fails', failSnapshot, 'True EtcdBackupFailed'],
  ['a key differs', changeKey, 'True KeysDiffer'],
  ['an operator appears', operatorAppears(), 'True OperatorAppeared'],
  ['an operator fights', fight, 'True NoEffect'],
  ['the quorum is lost', loseQuorum, 'True NoQuorum'],
] as const)('where %s nothing of the old cluster is touched', async (_, befalls, degraded) => {
  const run = await Carrying.confirmed();
  const before = FOUND.map((resource) => namesOf(run, resource));
  const seen = run.kube.writes.length;
  const service = run.kube.objects.get(`services/${namespace}/old-client`);
  run.befalls = befalls;
  expect(await run.converge(LONG)).toBe(false);
  expect(run.condition()).toBe(degraded);
  const writes = run.kube.writes.slice(seen);
  expect(writes.filter((one) => /^delete|patch (services|persistent)/.test(one))).toEqual([]);
  const now = FOUND.map((resource) => namesOf(run, resource));
  expect(now.flat()).toEqual(expect.arrayContaining(before.flat()));
  expect(run.kube.objects.get(`services/${namespace}/old-client`)).toEqual(service);
  run.edit({ rollback: true });
  run.befalls = () => undefined;
  run.isQuorate = true;
  expect(await run.converge(LONG)).toBe(true);
  expect([run.status.phase, run.etcds.alarms]).toEqual(['RolledBack', []]);
});
