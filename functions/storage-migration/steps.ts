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
  type Saying,
  type Word,
  asBefore,
  blocked,
  cleared,
  nextPass,
  settled,
} from './sayings.ts';
import { passBeginsMs, writesEndAt } from './late-writes.ts';
import { takeRestore, takeTrim } from './list-steps.ts';
import type { Migration } from './migration.ts';
import { obstacleIn, preflight, refusedSample } from './preflight.ts';
import { probeFailed, probeUnclean } from './probe.ts';
import { ManagedFieldsLost } from './rewrite.ts';
import { write } from './say.ts';
import { awaitSettled } from './settle.ts';
import {
  lookAgain,
  nowIsoOf,
  say,
  sayBlocked,
  type StepTask,
  type Taken,
  type Work,
} from './taking.ts';
import { type Crd, readTarget, isTarget } from './target.ts';

export async function take(
  task: StepTask,
  step: Exclude<Step, { take: 'nothing' | 'say' }>,
  migration: Migration,
): Promise<Taken> {
  try {
    if (step.take === 'delegate') return await takeDelegate(task, migration, step.mode);
    if (step.take === 'restore') return await takeRestore(task, migration, step.lacking);
    return await WORKS[step.take](task, migration);
  } catch (error) {
    // It is tried again when the reason is gone.
    const obstacle = obstacleOfStep(step.take, error, task.target.crd);
    if (obstacle === undefined) throw error;
    return sayBlocked(task, migration, obstacle);
  }
}

/** Steps that ask for every object: a server that fails then may do so for long. */
const LONG: ReadonlySet<string> = new Set(['walk', 'confirm']);

function obstacleOfStep(step: string, error: unknown, crd: Crd | undefined): Word | undefined {
  if (error instanceof ManagedFieldsLost) return fieldsLost(error);
  // Anything else passes within a moment, and whoever woke us wakes us again.
  const isLasting = LONG.has(step) || isKubeError(error, 'KUBE_FORBIDDEN');
  return isLasting ? obstacleIn(error, crd) : undefined;
}

const takePreflight: Work = async (task, migration) => {
  const { deps, target, endsAtMs, signal } = task;
  const { kube, clock } = deps;
  const isOver = (): boolean => clock.nowMs() > endsAtMs;
  const obstacle =
    etcdMissing(deps.etcd, migration) ??
    (await preflight({ kube, clock, target, isOver, signal }, migration));
  if (obstacle !== undefined) return sayBlocked(task, migration, obstacle);
  return say(task, migration, cleared(migration.status, nowIsoOf(task), target.crd));
};

const takeSettle: Work = async (task, migration) => {
  const { deps, target, endsAtMs, signal } = task;
  const { crd } = target;
  const { writesEndAt: before, ...known } = migration.status;
  const { lacking, isNews } = await awaitSettled(deps, target, endsAtMs, signal);
  const settlement = { crd, longestWriteMs: deps.longestWriteMs, nowMs: deps.clock.nowMs() };
  const end = writesEndAt({ ...settlement, isNews: isNews || before !== undefined });
  const late = end === undefined ? {} : { writesEndAt: end };
  if (lacking !== undefined) {
    const message = `${lacking} Nothing is rewritten before all of them store the new version.`;
    const why = { reason: 'ApiServersDisagree', message };
    return say(task, migration, blocked({ ...known, ...late }, why));
  }
  const nowIso = nowIsoOf(task);
  const status = { ...known, ...late, settledAt: nowIso };
  const next = settled(status, nowIso, target.crd);
  return say(task, migration, cleansFirst(status, next, nowIso));
};

/** The other one has its time: until it ends, a look a minute is enough. */
async function takeDelegate(task: StepTask, migration: Migration, mode: OtherMode): Promise<Taken> {
  const { deps, target, signal } = task;
  const { kube, clock } = deps;
  const saying = await delegate(deps, migration, target, mode, signal);
  const isWaiting = saying.status.phase === 'Delegating';
  // It does not tell why it does not get on.
  const obstacle = isWaiting
    ? await refusedSample({ kube, clock, target, signal }, migration)
    : undefined;
  const said = obstacle === undefined ? saying : blocked(saying.status, obstacle);
  const goesOn = said.blocked === undefined && !isWaiting;
  return { migration: await write(deps, migration, said, { goesOn, signal }), goesOn };
}

const takeWalk: Work = async (task, migration) => {
  const { deps, target, walker, endsAtMs } = task;
  const beginsMs = passBeginsMs(migration.status, deps.clock.nowMs());
  if (beginsMs !== undefined) return waitUntil(task, migration, beginsMs);
  const found = await walker.page(target, migration, endsAtMs);
  return sayFound(task, migration, asksEtcd(migration) ? unconfirmed(found) : found);
};

const takeConfirm: Work = async (task, migration) => {
  const { deps, target, signal } = task;
  const { kube, etcd, clock, workMs } = deps;
  const missing = etcdMissing(etcd, migration);
  if (missing !== undefined) return sayBlocked(task, migration, missing);
  const isAsked = etcd !== undefined && asksEtcd(migration);
  const since = migration.status.cursor?.resourceVersion ?? '0';
  const question = { kube, target, since, workMs };
  const answer = isAsked ? await askEtcd({ ...question, etcd }, signal) : undefined;
  const moment = { nowMs: clock.nowMs(), nowIso: nowIsoOf(task), crd: target.crd };
  return sayFound(task, migration, confirmed(migration.status, answer, moment));
};

/** As long as this request may; its end wakes the next. */
async function waitUntil(task: StepTask, migration: Migration, atMs: number): Promise<Taken> {
  const { deps, endsAtMs, signal } = task;
  const { clock } = deps;
  const said = await write(deps, migration, asBefore(migration.status), { goesOn: true, signal });
  await clock.sleep(Math.max(0, Math.min(atMs, endsAtMs) - clock.nowMs()) + 1, signal);
  return lookAgain(said);
}

async function sayFound(task: StepTask, migration: Migration, saying: Saying): Promise<Taken> {
  const isProof = saying.status.proof !== undefined;
  if (isProof && !(await isUnmoved(task, migration))) return lookAgain(migration);
  return say(task, migration, saying);
}

/** What was found is only proved of the CRD under which it was looked for, from first to last. */
async function isUnmoved({ deps, target, signal }: StepTask, migration: Migration) {
  if (target.crd === undefined) return true;
  const now = await readTarget(deps.kube, migration, signal);
  return (
    isTarget(now) && now.crd?.uid === target.crd.uid && now.crd.generation === target.crd.generation
  );
}

function fieldsLost({ message }: ManagedFieldsLost): Word {
  const what =
    `${message}: something between us and etcd drops them, such as an admission webhook. Nothing ` +
    'more is written until the spec is edited.';
  return { reason: MANAGED_FIELDS_LOST, message: what };
}

const takeProbe: Work = async (task, migration) => {
  const { target } = task;
  const { status, spec } = migration;
  const { failed = [], blockedIn } = status;
  const isCleaning = blockedIn === 'Cleaning';
  const { acceptedLoss = [] } = spec;
  const probe = isCleaning ? probeUnclean : probeFailed;
  const isHopeful = await probe({ ...task, acceptedLoss }, failed);
  if (!isHopeful) return { migration, goesOn: false };
  const again = { ...status, retriesLeft: spec.retries };
  const nowIso = nowIsoOf(task);
  const next = isCleaning
    ? cleaningPass(again, nowIso)
    : nextPass(again, 'Rewriting', nowIso, target.crd);
  return say(task, migration, next);
};

const WORKS = {
  preflight: takePreflight,
  settle: takeSettle,
  walk: takeWalk,
  confirm: takeConfirm,
  probe: takeProbe,
  trim: takeTrim,
} as const;
