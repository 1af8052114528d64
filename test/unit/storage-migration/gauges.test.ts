// Metrics of a migration, by its status: how much is left, how fast, and what blocks it.
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Deps } from '../../../functions/storage-migration/deps.ts';
import { MigrationGauges } from '../../../functions/storage-migration/gauges.ts';
import type { Migration } from '../../../functions/storage-migration/migration.ts';
import { sweepAll } from '../../../functions/storage-migration/reconciler.ts';
import type { StorageMigrationStatus } from '../../../shared/api/storage-migration.ts';
import type { Context } from '../../../shared/function/define.ts';
import { Metrics } from '../../../shared/function/metrics.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import { shownMetrics } from '../../builders/shown-metrics.ts';
import { at, condition, migration, PROGRESS, PROOF } from './samples.ts';

const BEGIN = 'ballast_storage_migration_';
const NAME = 'widgets.example.com';
const SINCE = '2026-01-02T00:00:00Z';

const of = (status: StorageMigrationStatus): Migration => migration({ status });
const saying = (status: 'True' | 'False', reason: string): Migration => {
  const said = { ...condition('Blocked', reason), status, lastTransitionTime: SINCE };
  return of(at('Blocked', { conditions: [said] }));
};

function shown(...looks: readonly Migration[]): Readonly<Record<string, number>> {
  const metrics = new Metrics();
  const gauges = new MigrationGauges(metrics);
  for (const one of looks) gauges.show(one);
  return shownMetrics(metrics, BEGIN);
}

test('they show how much is left, and how fast it goes', () => {
  const progress = { ...PROGRESS, total: 100, done: 60, failed: 2, perSecond: 20 };
  expect(shown(of(at('Rewriting', { pass: 1, progress })))).toEqual({
    [`objects ${NAME}`]: 100,
    [`objects_left ${NAME}`]: 40,
    [`objects_failed ${NAME}`]: 2,
    [`objects_per_second ${NAME}`]: 20,
    [`pass ${NAME}`]: 1,
    [`proved_timestamp_seconds ${NAME}`]: 0,
    [`blocked_since_timestamp_seconds ${NAME}`]: 0,
  });
});

test('nothing is left of one that is done, and it has the time of its proof', () => {
  const progress = { ...PROGRESS, perSecond: 20 };
  const all = shown(of(at('Done', { pass: 2, progress, proof: PROOF })));
  expect(all).toMatchObject({
    [`objects_left ${NAME}`]: 0,
    [`proved_timestamp_seconds ${NAME}`]: Date.parse(PROOF.at) / 1_000,
  });
  expect(all).not.toHaveProperty([`objects_per_second ${NAME}`]);
});

test('it shows since when it is blocked, and 0 as soon as nothing blocks it', () => {
  const blocked = (...looks: readonly Migration[]): number | undefined =>
    shown(...looks)[`blocked_since_timestamp_seconds ${NAME}`];
  expect(blocked(saying('True', 'RightsMissing'))).toBe(Date.parse(SINCE) / 1_000);
  expect(blocked(saying('True', 'RightsMissing'), of(at('Settling')))).toBe(0);
  expect(blocked(saying('True', 'RightsMissing'), saying('False', 'NotBlocked'))).toBe(0);
});

test('each sweep shows the migrations that there are, also those of another instance', async () => {
  const metrics = new Metrics();
  const until = new Date(Date.parse(SINCE) + 10_000).toISOString();
  let items: KubeObject[] = [of(at('Rewriting', { pass: 3, worker: { id: 'b', until } })).object];
  const none = { metadata: { resourceVersion: '1' }, items: [] };
  const kube = {
    list: async () => ({ ...none, items }),
    pages: async function* pages() {
      yield none;
    },
    get: async (ref: ResourceRef) => (ref.resource === 'storagemigrations' ? items[0] : null),
    apply: async (_: ResourceRef, manifest: KubeObject) => manifest,
  } as unknown as KubeClient;
  const deps = new Deps({
    kube,
    openServer: () => kube,
    clock: { nowMs: () => Date.parse(SINCE), sleep: async () => undefined },
    workMs: 0,
    settleMs: 0,
    longestWriteMs: 0,
    lease: { namespace: 'n', name: 'l', sweepSeconds: 60 },
    metrics,
  });
  const log = pino({ level: 'silent' });
  const { signal } = new AbortController();
  const context = { deps, log, signal } as unknown as Context<Deps>;
  await sweepAll(context);
  expect(shownMetrics(metrics, BEGIN)).toMatchObject({ [`pass ${NAME}`]: 3 });
  items = [];
  await sweepAll(context);
  expect(shownMetrics(metrics, BEGIN)).toEqual({});
});
