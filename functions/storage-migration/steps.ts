// Takes one step of a migration and says what came of it. Each answers the migration as it stands
// then, from which the next decision is made.
import type { OtherMode } from '../../shared/api/storage-migration.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { cleaningPass, cleansFirst } from './cleaning.ts';
import { confirmed, unconfirmed } from './confirm.ts';
import type { Step } from './decide.ts';
import { delegate } from './delegate.ts';
import { askEtcd } from './etcd-oracle.ts';
import { asksEtcd, etcdMissing } from './etcd-verdict.ts';
import {
  MANAGED_FIELDS_LOST,
  type StatusUpdate,
  unchanged,
  blocked,
  cleared,
  nextPass,
  settled,
} from './status.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { passBeginsMs, writesEndAt } from './late-writes.ts';
import { applyRestore, applyTrim } from './stored-versions.ts';
import type { Migration } from './migration.ts';
import { obstacleIn, preflight, refusedSample } from './preflight.ts';
import { probeFailed, probeUnclean } from './probe.ts';
import { PageCut } from './pass.ts';
import { ManagedFieldsLost } from './rewrite.ts';
import { tieRole } from './role-end.ts';
import { updateStatus } from './write-status.ts';
import { awaitStorageVersion } from './await-storage-version.ts';
import {
  reconcileAgain,
  nowIsoOf,
  finish,
  finishBlocked,
  type StepContext,
  type StepResult,
  type StepHandler,
} from './step-context.ts';
import { type Crd, observe, isTarget } from './observe.ts';

export async function applyStep(
  context: StepContext,
  step: Exclude<Step, { type: 'nothing' | 'status' }>,
  migration: Migration,
): Promise<StepResult> {
  try {
    if (step.type === 'delegate') return await applyDelegate(context, migration, step.mode);
    if (step.type === 'restore') return await applyRestore(context, migration, step.lacking);
    return await HANDLERS[step.type](context, migration);
  } catch (thrown) {
    const [error, counted] =
      thrown instanceof PageCut ? [thrown.cause, thrown.update] : [thrown, undefined];
    // It is tried again when the reason is gone.
    const obstacle = obstacleOfStep(step.type, error, context.target.crd);
    if (obstacle !== undefined) {
      const status = counted?.status ?? migration.status;
      return finishBlocked(context, { ...migration, status }, obstacle);
    }
    if (counted !== undefined) await noteChanges(context.deps, migration, counted);
    throw error;
  }
}

const NOTE_TIMEOUT_MS = 5_000;

/** The request may be over already, so that its signal would end this write too. */
async function noteChanges(
  deps: StepContext['deps'],
  migration: Migration,
  counted: StatusUpdate,
): Promise<void> {
  const signal = AbortSignal.timeout(NOTE_TIMEOUT_MS);
  await updateStatus(deps, migration, counted, { goesOn: false, signal });
}

/** Steps that ask for every object: a server that fails then may do so for long. */
const LONG: ReadonlySet<string> = new Set(['pass', 'confirm']);

function obstacleOfStep(step: string, error: unknown, crd: Crd | undefined): Reason | undefined {
  if (error instanceof ManagedFieldsLost) return fieldsLost(error);
  // Anything else passes within a moment, and whoever woke us wakes us again.
  const isLasting = LONG.has(step) || isKubeError(error, 'KUBE_FORBIDDEN');
  return isLasting ? obstacleIn(error, crd) : undefined;
}

const applyPreflight: StepHandler = async (context, migration) => {
  const { deps, target, endsAtMs, signal } = context;
  const { kube, clock } = deps;
  const isTimeOver = (): boolean => clock.nowMs() > endsAtMs;
  const obstacle =
    etcdMissing(deps.etcd, migration) ??
    (await preflight({ kube, clock, target, isTimeOver, signal }, migration));
  if (obstacle !== undefined) return finishBlocked(context, migration, obstacle);
  await tieRole(kube, migration, signal);
  return finish(context, migration, cleared(migration.status, nowIsoOf(context), target.crd));
};

const applySettle: StepHandler = async (context, migration) => {
  const { deps, target, endsAtMs, signal } = context;
  const { crd } = target;
  const { writesEndAt: before, ...known } = migration.status;
  const { lacking, isNews } = await awaitStorageVersion(deps, target, endsAtMs, signal);
  const settlement = { crd, longestWriteMs: deps.longestWriteMs, nowMs: deps.clock.nowMs() };
  const end = writesEndAt({ ...settlement, isNews: isNews || before !== undefined });
  const late = end === undefined ? {} : { writesEndAt: end };
  if (lacking !== undefined) {
    const message = `${lacking} Nothing is rewritten before all of them store the new version.`;
    const why = { reason: 'ApiServersDisagree', message };
    return finish(context, migration, blocked({ ...known, ...late }, why));
  }
  const nowIso = nowIsoOf(context);
  const status = { ...known, ...late, settledAt: nowIso };
  const next = settled(status, nowIso, target.crd);
  return finish(context, migration, cleansFirst(status, next, nowIso));
};

/** The other one has its time: until it ends, a look a minute is enough. */
async function applyDelegate(
  context: StepContext,
  migration: Migration,
  mode: OtherMode,
): Promise<StepResult> {
  const { deps, target, signal } = context;
  const { kube, clock } = deps;
  const update = await delegate(deps, migration, target, mode, signal);
  const isWaiting = update.status.phase === 'Delegating';
  // It does not tell why it does not get on.
  const obstacle = isWaiting
    ? await refusedSample({ kube, clock, target, signal }, migration)
    : undefined;
  const said = obstacle === undefined ? update : blocked(update.status, obstacle);
  const goesOn = said.blocked === undefined && !isWaiting;
  return { migration: await updateStatus(deps, migration, said, { goesOn, signal }), goesOn };
}

const applyPass: StepHandler = async (context, migration) => {
  const { deps, target, pass, endsAtMs } = context;
  const beginsMs = passBeginsMs(migration.status, deps.clock.nowMs());
  if (beginsMs !== undefined) return waitUntil(context, migration, beginsMs);
  const found = await pass.page(target, migration, endsAtMs);
  return finishWithProof(context, migration, asksEtcd(migration) ? unconfirmed(found) : found);
};

const applyConfirm: StepHandler = async (context, migration) => {
  const { deps, target, signal } = context;
  const { kube, etcd, clock, workMs } = deps;
  const missing = etcdMissing(etcd, migration);
  if (missing !== undefined) return finishBlocked(context, migration, missing);
  const isAsked = etcd !== undefined && asksEtcd(migration);
  const since = migration.status.cursor?.resourceVersion ?? '0';
  const question = { kube, target, since, workMs };
  const answer = isAsked ? await askEtcd({ ...question, etcd }, signal) : undefined;
  const moment = { nowMs: clock.nowMs(), nowIso: nowIsoOf(context), crd: target.crd };
  return finishWithProof(context, migration, confirmed(migration.status, answer, moment));
};

/** As long as this request may; its end wakes the next. */
async function waitUntil(
  context: StepContext,
  migration: Migration,
  atMs: number,
): Promise<StepResult> {
  const { deps, endsAtMs, signal } = context;
  const { clock } = deps;
  const said = await updateStatus(deps, migration, unchanged(migration.status), {
    goesOn: true,
    signal,
  });
  await clock.sleep(Math.max(0, Math.min(atMs, endsAtMs) - clock.nowMs()) + 1, signal);
  return reconcileAgain(said);
}

async function finishWithProof(
  context: StepContext,
  migration: Migration,
  update: StatusUpdate,
): Promise<StepResult> {
  const isProof = update.status.proof !== undefined;
  if (isProof && !(await isUnmoved(context, migration))) return reconcileAgain(migration);
  return finish(context, migration, update);
}

/**
 * A pass proves something only about one CRD, so the CRD must be the same from the first page to
 * the last.
 */
async function isUnmoved({ deps, target, signal }: StepContext, migration: Migration) {
  if (target.crd === undefined) return true;
  const now = await observe(deps.kube, migration, signal);
  return (
    isTarget(now) && now.crd?.uid === target.crd.uid && now.crd.generation === target.crd.generation
  );
}

function fieldsLost({ message }: ManagedFieldsLost): Reason {
  const explained =
    `${message}: something between us and etcd drops them, such as an admission webhook. Nothing ` +
    'more is written until the spec is edited.';
  return { reason: MANAGED_FIELDS_LOST, message: explained };
}

const applyProbe: StepHandler = async (context, migration) => {
  const { target } = context;
  const { status, spec } = migration;
  const { failed = [], blockedIn } = status;
  const isCleaning = blockedIn === 'Cleaning';
  const { acceptedLoss = [] } = spec;
  const probe = isCleaning ? probeUnclean : probeFailed;
  const isHopeful = await probe({ ...context, acceptedLoss }, failed);
  if (!isHopeful) return { migration, goesOn: false };
  const again = { ...status, retriesLeft: spec.retries };
  const nowIso = nowIsoOf(context);
  const next = isCleaning
    ? cleaningPass(again, nowIso)
    : nextPass(again, 'Rewriting', nowIso, target.crd);
  return finish(context, migration, next);
};

const HANDLERS = {
  preflight: applyPreflight,
  settle: applySettle,
  pass: applyPass,
  confirm: applyConfirm,
  probe: applyProbe,
  trim: applyTrim,
} as const;
