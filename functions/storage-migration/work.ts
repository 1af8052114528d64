// What the function does when it wakes: looks at each migration that the event may be about, takes
// one step after the other while its time lasts, and leaves the rest to the next event.
import { MIGRATE_ANNOTATION, STORAGE_MIGRATIONS } from '../../shared/api/storage-migration.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Context, IncomingEvent } from '../../shared/function/define.ts';
import { CRDS } from '../../shared/kube/crds.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { conditionsOf, NOT_SWEPT } from '../../shared/kube/conditions.ts';
import { isRecord, textOf } from '../../shared/kube/json.ts';
import { sweepEach } from '../../shared/kube/sweep-lease.ts';
import { decide } from './decide.ts';
import { asBefore } from './sayings.ts';
import type { Deps } from './deps.ts';
import { type Migration, migrationOf, resourceOf } from './migration.ts';
import { write } from './say.ts';
import { take } from './steps.ts';
import { Walker } from './walk.ts';
import { crdOf, isTarget, readTarget, storageVersionOf } from './target.ts';

/** The tick of each minute: every migration, and every CRD that asks for one. */
export async function sweepAll(context: Context<Deps>): Promise<void> {
  await eachOrThrow([() => adoptAll(context), () => sweepMigrations(context)]);
}

async function sweepMigrations(context: Context<Deps>): Promise<void> {
  const { deps, log, signal } = context;
  const { kube, lease, clock } = deps;
  const { items } = await kube.list(STORAGE_MIGRATIONS, { signal });
  const nowMs = (): number => clock.nowMs();
  const lookAt = ({ metadata }: KubeObject): Promise<void> => look(metadata.name, context);
  await sweepEach(items, lookAt, { kube, lease, nowMs, log, signal });
}

/** Those of one CRD. */
async function lookAtAllOf(crdName: string, context: Context<Deps>): Promise<void> {
  const { deps, signal } = context;
  const { items } = await deps.kube.list(STORAGE_MIGRATIONS, { signal });
  const meant = items.map(migrationOf).filter((migration) => resourceOf(migration) === crdName);
  await eachOrThrow(
    meant.map(
      ({ name }) =>
        () =>
          look(name, context),
    ),
  );
}

/** An event names an object; what it says of it is read anew. */
export async function takeChange({ data }: IncomingEvent, context: Context<Deps>): Promise<void> {
  const { kind, metadata } = isRecord(data) ? data : {};
  const name = isRecord(metadata) ? textOf(metadata['name']) : '';
  if (name === '') return;
  if (kind === 'StorageMigration') return look(name, context);
  if (kind !== 'CustomResourceDefinition') return;
  await eachOrThrow([() => adopt(name, context), () => lookAtAllOf(name, context)]);
}

/** One migration's failure is no other's: all are tried, and then the first failure is told. */
async function eachOrThrow(works: readonly (() => Promise<void>)[]): Promise<void> {
  const settled = await Promise.allSettled(works.map((work) => work()));
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function look(name: string, context: Context<Deps>): Promise<void> {
  const { deps, log } = context;
  await deps.serialized(name, async () => {
    try {
      await workOn(name, context);
    } catch (error) {
      // Another instance, or a person, was first, or it is deleted, or its kind is: their change is
      // an event of its own.
      if (!isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) throw error;
      log.info({ migration: name }, 'somebody else changed the migration or its kind');
    }
  });
}

async function workOn(name: string, { deps, signal, log }: Context<Deps>): Promise<void> {
  const { kube, clock, workMs } = deps;
  const endsAtMs = clock.nowMs() + workMs;
  const object = await kube.get(STORAGE_MIGRATIONS, { name }, { signal });
  if (object === null) return;
  let now = migrationOf(object);
  if (isAnothers(now, deps)) return;
  const walker = new Walker(deps, now.spec.budget, signal);
  for (;;) {
    const target = await readTarget(kube, now, signal);
    const step = decide(now, target);
    if (step.take === 'nothing') break;
    let goesOn = true;
    if (step.take === 'say') {
      goesOn = step.saying.blocked === undefined;
      now = await write(deps, now, step.saying, { goesOn, signal });
    } else if (isTarget(target)) {
      const task = { deps, target, walker, endsAtMs, signal };
      ({ migration: now, goesOn } = await take(task, step, now));
    }
    const { phase, pass, progress } = now.status;
    log.info({ migration: name, step: step.take, phase, pass, progress }, 'step taken');
    if (!goesOn || clock.nowMs() > endsAtMs) break;
  }
  await release(now, deps, signal);
}

/** Somebody is at it, and his time is not over. */
function isAnothers({ status: { worker } }: Migration, { clock, id }: Deps): boolean {
  if (worker === undefined || worker.id === id) return false;
  const leftMs = Date.parse(worker.until) - clock.nowMs();
  return leftMs > 0 && leftMs <= LEASE_MAX_MS;
}

/** The longest that an instance can be told to work on, and a minute for clocks that differ. */
const LEASE_MAX_MS = 400_000;

/** The change of the status wakes whoever goes on. */
async function release(now: Migration, deps: Deps, signal: AbortSignal): Promise<void> {
  // Somebody said of us that nobody looks, and this look may have had nothing to say.
  const isDoubted = conditionsOf(now.object).some(({ reason }) => reason === NOT_SWEPT);
  if (now.status.worker === undefined && !isDoubted) return;
  await write(deps, now, asBefore(now.status), { goesOn: false, signal });
}

const CRDS_AT_ONCE = 500;

async function adoptAll(context: Context<Deps>): Promise<void> {
  const { deps, signal } = context;
  const asking: KubeObject[] = [];
  const pages = deps.kube.pages(CRDS, { metadataOnly: true, limit: CRDS_AT_ONCE, signal });
  for await (const { items } of pages) {
    asking.push(...items.filter(({ metadata }) => metadata.annotations?.[MIGRATE_ANNOTATION]));
  }
  await eachOrThrow(
    asking.map(
      ({ metadata }) =>
        () =>
          adopt(metadata.name, context),
    ),
  );
}

/** A CRD may ask for its migration; it is named as the CRD, and made once it is needed. */
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
      apiVersion: `${STORAGE_MIGRATIONS.group}/${STORAGE_MIGRATIONS.version}`,
      kind: 'StorageMigration',
      metadata: { name },
      spec: { resource: { group: group.join('.'), resource } },
    },
    { signal },
  );
}
