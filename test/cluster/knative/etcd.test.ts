// An etcd that is kept by the functions as they are installed: their sources and their cron wake
// them, their policies let the Jobs pass, the images that the settings name run in the pods; and
// Prometheus has what the dashboard shows and the alerts need.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcdBackupRights } from '../../../knative/tools/rights/etcd-backup.ts';
import { etcdClusterRights } from '../../../knative/tools/rights/etcd-cluster.ts';
import { etcdPeerRights } from '../../../knative/tools/rights/etcd-peer.ts';
import { etcdRestoreRights } from '../../../knative/tools/rights/etcd-restore.ts';
import { natsClusterRights } from '../../../knative/tools/rights/manifests.ts';
import { ROWS } from '../../../knative/tools/dashboard/panels.ts';
import type { Problem } from '../../../functions/console/answers.ts';
import { migrationFor, rightsFor } from '../../../knative/tools/migrate/manifests.ts';
import { ETCD_BACKUP_SCHEDULES } from '../../../shared/api/etcd-backup-schedule.ts';
import { ETCD_RESTORES } from '../../../shared/api/etcd-restore.ts';
import type { Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import { STORAGE_MIGRATIONS } from '../../../shared/api/storage-migration.ts';
import { ConsolePage } from './support/console-page.ts';
import { Monitoring } from './support/monitoring.ts';
import { conditionOf, eventually } from './support/rig.ts';
import { type KnativeWorld, NAMESPACES, openWorld, OPEN_WITHIN_MS } from './support/world.ts';

const namespace = NAMESPACES.etcd;
const RIGHTS = [etcdClusterRights, etcdPeerRights, etcdBackupRights, etcdRestoreRights];
const STORAGE = { size: '10Gi' };

interface Status {
  readonly newest?: { readonly name: string; readonly revision: string };
  readonly backup?: { readonly revision: string };
}

let world: KnativeWorld;
let monitoring: Monitoring;
let page: ConsolePage;
const home = await mkdtemp(join(tmpdir(), 'ballast-etcd-'));

beforeAll(async () => {
  world = await openWorld(namespace);
  for (const rights of RIGHTS) await world.rig.apply(...rights(namespace));
  monitoring = await Monitoring.start(world.rig);
  page = await ConsolePage.open(world, home);
}, OPEN_WITHIN_MS);

afterAll(async () => {
  await page?.close();
  await monitoring?.close();
  await world?.close();
  await rm(home, { recursive: true });
});

const NODES = { group: '', version: 'v1', resource: 'nodes' } as const;

/** No new pod finds a place. */
async function cordon(unschedulable: boolean): Promise<void> {
  const { kube } = world.rig;
  for (const { metadata } of (await kube.list(NODES)).items) {
    await kube.patch(NODES, metadata, { type: 'merge', body: { spec: { unschedulable } } });
  }
}

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
      rehearsal: { every: 1 },
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

/** The dashboard shows objects of more kinds. */
async function makeTheRest(): Promise<void> {
  const request = {
    group: 'ballast.dev',
    resource: 'etcdclusters',
    dryRun: false,
    trim: 'OnProof',
    mode: 'Ballast',
    verifiesEtcd: false,
    namespace: 'ballast-system',
  } as const;
  await world.rig.apply(...rightsFor(request), migrationFor(request));
  const nats = { replicas: 1, tls: { clients: {} } };
  await world.rig.apply(...natsClusterRights(namespace), ours('NatsCluster', 'nats', nats));
  await eventually(async () => {
    const found = await world.rig.kube.get(STORAGE_MIGRATIONS, {
      name: 'etcdclusters.ballast.dev',
    });
    expect(Object(found?.['status']).phase).toBe('Done');
  });
}

test('each query of the dashboard has an answer, or is silent because all is well', async () => {
  await makeTheRest();
  const queries = ROWS.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries));
  const wanted = queries.filter(({ isSilentWhenWell = false }) => !isSilentWhenWell);
  // Those that are silent when all is well are asked once: whether Prometheus can read them.
  for (const { expr } of queries) await monitoring.query(expr);
  let unanswered = wanted;
  await eventually(async () => {
    const answers = await Promise.all(unanswered.map(({ expr }) => monitoring.query(expr)));
    unanswered = unanswered.filter((_, index) => answers[index]?.length === 0);
    expect(unanswered).toEqual([]);
  });
});

const problems = async (): Promise<readonly Problem[]> =>
  (await page.problems()).filter((found) => found.namespace === namespace && found.name === 'main');

test('an etcd without its only member is an alert and on the page, until it is back', async () => {
  const { rig } = world;
  const isWell = (): Promise<void> =>
    eventually(async () => {
      expect(await monitoring.alertsOf('main')).toEqual([]);
      expect(await problems()).toEqual([]);
    });
  await isWell();
  await cordon(true);
  try {
    await rig.kill('app.kubernetes.io/instance=main,app.kubernetes.io/name=etcd');
    await eventually(async () => {
      const [problem] = await problems();
      expect(problem).toMatchObject({
        severity: 'critical',
        next: expect.stringMatching(/^Bring/),
      });
      expect(await monitoring.alertsOf('main')).toContain('EtcdClusterQuorumLost');
    });
  } finally {
    await cordon(false);
  }
  await isWell();
});
