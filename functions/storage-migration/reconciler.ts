// The reconciler: an event or the sweep names migrations. Each is observed, decided on and moved on
// by one step, again and again until WORK_SECONDS are over. The rest is left to the next event.
import { MIGRATE_ANNOTATION, STORAGE_MIGRATIONS } from '../../shared/api/storage-migration.ts';
import { apiVersionOf, type KubeObject } from '../../shared/kube/objects.ts';
import type { Context, IncomingEvent } from '../../shared/function/define.ts';
import { settleAll } from '../../shared/function/settle-all.ts';
import { CRDS } from '../../shared/kube/crds.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { isRecord, textOf } from '../../shared/kube/json.ts';
import { sweepEach } from '../../shared/kube/sweep-lease.ts';
import { decide } from './decide.ts';
import type { Deps } from './deps.ts';
import { migrationOf, resourceOf } from './migration.ts';
import { updateStatus } from './write-status.ts';
import { applyStep } from './steps.ts';
import { Pass } from './pass.ts';
import { acquire, isHeldByOther, release } from './worker-lease.ts';
import { crdOf, isTarget, observe, storageVersionOf } from './observe.ts';

/** Once a minute: every migration, and every CRD that asks for one. */
export async function sweepAll(context: Context<Deps>): Promise<void> {
  await settleAll([adoptAll(context), sweepMigrations(context)]);
}

async function sweepMigrations(context: Context<Deps>): Promise<void> {
  const { deps, log, signal } = context;
  const { kube, lease, clock } = deps;
  const { items } = await kube.list(STORAGE_MIGRATIONS, { signal });
  deps.gauges.keepOnly(new Set(items.map(({ metadata }) => metadata.uid)));
  const nowMs = (): number => clock.nowMs();
  const each = ({ metadata }: KubeObject): Promise<void> => reconcile(metadata.name, context);
  await sweepEach(items, each, { kube, lease, nowMs, log, signal });
}

/** Every migration of one CRD. */
async function reconcileAllOf(crdName: string, context: Context<Deps>): Promise<void> {
  const { deps, signal } = context;
  const { items } = await deps.kube.list(STORAGE_MIGRATIONS, { signal });
  const meant = items.map(migrationOf).filter((migration) => resourceOf(migration) === crdName);
  await settleAll(meant.map(({ name }) => reconcile(name, context)));
}

/** An event only names an object; its state is read again: events come late, twice or forged. */
export async function takeChange({ data }: IncomingEvent, context: Context<Deps>): Promise<void> {
  const { kind, metadata } = isRecord(data) ? data : {};
  const name = isRecord(metadata) ? textOf(metadata['name']) : '';
  if (name === '') return;
  if (kind === 'StorageMigration') return reconcile(name, context);
  if (kind !== 'CustomResourceDefinition') return;
  await settleAll([adopt(name, context), reconcileAllOf(name, context)]);
}

async function reconcile(name: string, context: Context<Deps>): Promise<void> {
  const { deps, log } = context;
  await deps.serialized(name, async () => {
    try {
      await applySteps(name, context);
    } catch (error) {
      // Another instance or a person changed or deleted the migration or its kind. That change is
      // an event of its own, which begins from the new state.
      if (!isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) throw error;
      log.info({ migration: name }, 'somebody else changed the migration or its kind');
    }
  });
}

async function applySteps(name: string, { deps, signal, log }: Context<Deps>): Promise<void> {
  const { kube, clock, workMs } = deps;
  const endsAtMs = clock.nowMs() + workMs;
  const object = await kube.get(STORAGE_MIGRATIONS, { name }, { signal });
  if (object === null) return;
  let now = migrationOf(object);
  deps.gauges.show(now);
  if (isHeldByOther(now, deps)) return;
  const currentPass = new Pass(deps, now.spec.budget, signal);
  for (;;) {
    const target = await observe(kube, now, signal);
    const step = decide(now, target);
    if (step.type === 'nothing') break;
    let goesOn = true;
    if (step.type === 'status') {
      goesOn = step.update.blocked === undefined;
      now = await updateStatus(deps, now, step.update, { goesOn, signal });
    } else if (isTarget(target)) {
      if (step.type === 'pass') now = await acquire(now, deps, signal);
      const stepContext = { deps, target, pass: currentPass, endsAtMs, signal };
      ({ migration: now, goesOn } = await applyStep(stepContext, step, now));
    }
    const { phase, pass, progress } = now.status;
    deps.gauges.show(now);
    log.info({ migration: name, step: step.type, phase, pass, progress }, 'step taken');
    if (!goesOn || clock.nowMs() > endsAtMs) break;
  }
  await release(now, deps, signal);
}

const CRDS_AT_ONCE = 500;

async function adoptAll(context: Context<Deps>): Promise<void> {
  const { deps, signal } = context;
  const asking: KubeObject[] = [];
  const pages = deps.kube.pages(CRDS, { metadataOnly: true, limit: CRDS_AT_ONCE, signal });
  for await (const { items } of pages) {
    asking.push(...items.filter(({ metadata }) => metadata.annotations?.[MIGRATE_ANNOTATION]));
  }
  await settleAll(asking.map(({ metadata }) => adopt(metadata.name, context)));
}

/** Creates the migration that a CRD asks for by annotation, once there is something to migrate. */
async function adopt(name: string, { deps, signal }: Context<Deps>): Promise<void> {
  const object = await deps.kube.get(CRDS, { name }, { signal });
  if (object?.metadata.annotations?.[MIGRATE_ANNOTATION] !== 'true') return;
  const crd = crdOf(object);
  const version = storageVersionOf(crd);
  if (crd.storedVersions.every((one) => one === version)) return;
  const [resource = '', ...group] = name.split('.');
  await deps.kube.create(
    STORAGE_MIGRATIONS,
    {
      apiVersion: apiVersionOf(STORAGE_MIGRATIONS),
      kind: 'StorageMigration',
      metadata: { name },
      spec: { resource: { group: group.join('.'), resource } },
    },
    { signal },
  );
}
