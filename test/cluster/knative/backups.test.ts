// Backups by the functions as they are installed: their sources and their cron wake them, their
// policies let the Jobs pass, and the images that the settings name run in the pods.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcdBackupRights } from '../../../knative/tools/rights/etcd-backup.ts';
import { etcdClusterRights } from '../../../knative/tools/rights/etcd-cluster.ts';
import { etcdPeerRights } from '../../../knative/tools/rights/etcd-peer.ts';
import { etcdRestoreRights } from '../../../knative/tools/rights/etcd-restore.ts';
import { ETCD_BACKUP_SCHEDULES } from '../../../shared/api/etcd-backup-schedule.ts';
import { ETCD_RESTORES } from '../../../shared/api/etcd-restore.ts';
import type { Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import { conditionOf, eventually } from './support/rig.ts';
import { type KnativeWorld, NAMESPACES, openWorld, OPEN_WITHIN_MS } from './support/world.ts';

const namespace = NAMESPACES.backups;
const RIGHTS = [etcdClusterRights, etcdPeerRights, etcdBackupRights, etcdRestoreRights];
const STORAGE = { size: '10Gi' };

interface Status {
  readonly newest?: { readonly name: string; readonly revision: string };
  readonly backup?: { readonly revision: string };
}

let world: KnativeWorld;

beforeAll(async () => {
  world = await openWorld(namespace);
  for (const rights of RIGHTS) await world.rig.apply(...rights(namespace));
}, OPEN_WITHIN_MS);

afterAll(() => world?.close());

const ours = (kind: string, name: string, spec: object): Manifest => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind,
  metadata: { namespace, name },
  spec,
});

/** Its status then. */
const untilTrue = (ref: ResourceRef, name: string, type: string): Promise<Status> =>
  eventually(async () => {
    const found = await world.rig.kube.get(ref, { namespace, name });
    const { status, message } = (found === null ? undefined : conditionOf(found, type)) ?? {};
    if (found === null || status !== 'True') {
      throw new Error(`${name}: ${type} is ${status}, ${message}`);
    }
    return Object(found['status']);
  });

test('each minute has a backup, of which one becomes another EtcdCluster', async () => {
  const { rig } = world;
  const resources = { requests: { storage: '1Gi' } };
  await rig.apply(
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace, name: 'disk' },
      spec: { accessModes: ['ReadWriteOnce'], resources },
    },
    ours('EtcdCluster', 'main', { replicas: 1, storage: STORAGE }),
    ours('EtcdBackupSchedule', 'main', {
      schedule: '* * * * *',
      retention: { count: 1 },
      template: { source: { etcdCluster: { name: 'main' } }, target: { claim: { name: 'disk' } } },
    }),
  );
  const { newest } = await untilTrue(ETCD_BACKUP_SCHEDULES, 'main', 'Ready');
  await rig.apply(
    ours('EtcdRestore', 'back', {
      source: { etcdBackup: { name: newest?.name } },
      etcdCluster: { name: 'main-2', spec: { replicas: 1, storage: STORAGE } },
    }),
  );
  const { backup } = await untilTrue(ETCD_RESTORES, 'back', 'Complete');
  expect(backup?.revision).toBe(newest?.revision);
});
