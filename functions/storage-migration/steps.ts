// Takes one step of a migration and says what came of it. Each answers the migration as it stands
// then, from which the next decision is made.
import type { OtherMode } from '../../shared/api/storage-migration.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { announce } from './announce.ts';
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
  done,
  nextPass,
  restored,
  settled,
} from './sayings.ts';
import type { Doors } from './doors.ts';
import { passBeginsMs, writesEndAt } from './late-writes.ts';
import type { Migration } from './migration.ts';
import { obstacleIn, preflight, refusedSample } from './preflight.ts';
import { probeFailed, probeUnclean } from './probe.ts';
import { ManagedFieldsLost } from './rewrite.ts';
import { write } from './say.ts';
import { awaitSettled } from './settle.ts';
import { type Crd, type Target, readTarget, isTarget, storageVersionOf } from './target.ts';
import { setStoredVersions } from './trim.ts';
import type { Walker } from './walk.ts';

export interface StepTask {
  readonly doors: Doors;
  readonly target: Target;
  readonly walker: Walker;
  /** When to leave the rest to the next request. */
  readonly endsAtMs: number;
  readonly signal: AbortSignal;
}

/** The migration as it stands after the step, and whether there is more to do at once. */
export interface Taken {
  readonly migration: Migration;
  readonly goesOn: boolean;
}

type Work = (task: StepTask, migration: Migration) => Promise<Taken>;

export function take(
  task: StepTask,
  step: Exclude<Step, { take: 'nothing' | 'say' }>,
  migration: Migration,
): Promise<Taken> {
  if (step.take === 'delegate') return takeDelegate(task, migration, step.mode);
  if (step.take === 'restore') return takeRestore(task, migration, step.lacking);
  return WORKS[step.take](task, migration);
}

async function say(
  { doors, signal }: StepTask,
  migration: Migration,
  saying: Saying,
): Promise<Taken> {
  const goesOn = saying.blocked === undefined;
  return { migration: await write(doors, migration, saying, { goesOn, signal }), goesOn };
}

const sayBlocked = (task: StepTask, migration: Migration, why: Word): Promise<Taken> =>
  say(task, migration, blocked(migration.status, why));

const nowIsoOf = ({ doors }: StepTask): string => timestamp(doors.clock.nowMs());

const takePreflight: Work = async (task, migration) => {
  const { doors, target, endsAtMs, signal } = task;
  const { kube, clock } = doors;
  const isOver = (): boolean => clock.nowMs() > endsAtMs;
  const obstacle =
    etcdMissing(doors.etcd, migration) ??
    (await preflight({ kube, clock, target, isOver, signal }, migration));
  if (obstacle !== undefined) return sayBlocked(task, migration, obstacle);
  return say(task, migration, cleared(migration.status, nowIsoOf(task), target.crd));
};

const takeSettle: Work = async (task, migration) => {
  const { doors, target, endsAtMs, signal } = task;
  const { crd } = target;
  const { writesEndAt: before, ...known } = migration.status;
  const { lacking, isNews } = await awaitSettled(doors, target, endsAtMs, signal);
  const settlement = { crd, longestWriteMs: doors.longestWriteMs, nowMs: doors.clock.nowMs() };
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
  const { doors, target, signal } = task;
  const { kube, clock } = doors;
  const saying = await delegate(doors, migration, target, mode, signal);
  const isWaiting = saying.status.phase === 'Delegating';
  // It does not tell why it does not get on.
  const obstacle = isWaiting
    ? await refusedSample({ kube, clock, target, signal }, migration)
    : undefined;
  const said = obstacle === undefined ? saying : blocked(saying.status, obstacle);
  const goesOn = said.blocked === undefined && !isWaiting;
  return { migration: await write(doors, migration, said, { goesOn, signal }), goesOn };
}

const takeWalk: Work = async (task, migration) => {
  const { doors, target, walker, endsAtMs } = task;
  const beginsMs = passBeginsMs(migration.status, doors.clock.nowMs());
  if (beginsMs !== undefined) return waitUntil(task, migration, beginsMs);
  try {
    const found = await walker.page(target, migration, endsAtMs);
    return await sayFound(task, migration, asksEtcd(migration) ? unconfirmed(found) : found);
  } catch (error) {
    // The page is done again when the reason is gone.
    const obstacle =
      error instanceof ManagedFieldsLost ? fieldsLost(error) : obstacleIn(error, target.crd);
    if (obstacle === undefined) throw error;
    return sayBlocked(task, migration, obstacle);
  }
};

const takeConfirm: Work = async (task, migration) => {
  const { doors, target, signal } = task;
  const { kube, etcd, clock, workMs } = doors;
  const missing = etcdMissing(etcd, migration);
  if (missing !== undefined) return sayBlocked(task, migration, missing);
  try {
    const isAsked = etcd !== undefined && asksEtcd(migration);
    const since = migration.status.cursor?.resourceVersion ?? '0';
    const question = { kube, target, since, workMs };
    const answer = isAsked ? await askEtcd({ ...question, etcd }, signal) : undefined;
    const moment = { nowMs: clock.nowMs(), nowIso: nowIsoOf(task), crd: target.crd };
    return await sayFound(task, migration, confirmed(migration.status, answer, moment));
  } catch (error) {
    const obstacle = obstacleIn(error, target.crd);
    if (obstacle === undefined) throw error;
    return sayBlocked(task, migration, obstacle);
  }
};

/** As long as this request may; its end wakes the next. */
async function waitUntil(task: StepTask, migration: Migration, atMs: number): Promise<Taken> {
  const { doors, endsAtMs, signal } = task;
  const { clock } = doors;
  const said = await write(doors, migration, asBefore(migration.status), { goesOn: true, signal });
  await clock.sleep(Math.max(0, Math.min(atMs, endsAtMs) - clock.nowMs()) + 1, signal);
  return lookAgain(said);
}

async function sayFound(task: StepTask, migration: Migration, saying: Saying): Promise<Taken> {
  const isProof = saying.status.proof !== undefined;
  if (isProof && !(await isUnmoved(task, migration))) return lookAgain(migration);
  return say(task, migration, saying);
}

/** What was found is only proved of the CRD under which it was looked for, from first to last. */
async function isUnmoved({ doors, target, signal }: StepTask, migration: Migration) {
  if (target.crd === undefined) return true;
  const now = await readTarget(doors.kube, migration, signal);
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
  const isHopeful = await (isCleaning ? probeUnclean(task, failed) : probeFailed(task, failed));
  if (!isHopeful) return { migration, goesOn: false };
  const again = { ...status, retriesLeft: spec.retries };
  const nowIso = nowIsoOf(task);
  const next = isCleaning
    ? cleaningPass(again, nowIso)
    : nextPass(again, 'Rewriting', nowIso, target.crd);
  return say(task, migration, next);
};

const takeTrim: Work = async (task, migration) => {
  const { doors, target, signal } = task;
  const { spec, status } = migration;
  const { crd } = target;
  const version = status.proof?.version ?? '';
  if (crd === undefined) {
    const message = `Everything is stored as ${version}; there is no list to trim.`;
    return say(task, migration, done(status, { message }));
  }
  const others = crd.storedVersions.filter((one) => one !== version);
  if (others.length === 0) return takeTrimmed(task, migration, crd);
  if (spec.trim === 'Never') {
    const message = `Everything is stored as ${version}; spec.trim is Never, so the list stays.`;
    return say(task, migration, done(status, { message }));
  }
  const isWhole = !asksEtcd(migration) || status.proof?.oracle === 'SecondPassAndEtcd';
  if (!isWhole || !isAsVerified(migration, crd)) {
    // Somebody wrote to the CRD since: the proof may be of another state. Or etcd is asked now.
    const { proof: _proof, ...rest } = status;
    return say(task, migration, nextPass(rest, 'Verifying', nowIsoOf(task), crd));
  }
  await setStoredVersions(doors.kube, crd, [version], signal);
  return lookAgain(migration);
};

/** The list names the proved version alone: who trimmed it may have died before he said so. */
async function takeTrimmed(task: StepTask, migration: Migration, crd: Crd): Promise<Taken> {
  const { status } = migration;
  const { version = '', objects = 0 } = status.proof ?? {};
  const trimmed = (status.storedVersions ?? []).filter((one) => one !== version);
  const proof = `all ${objects} objects are proved to be stored as ${version}`;
  if (trimmed.length === 0) {
    const message = `There is nothing to take off the stored versions: ${proof}.`;
    return say(task, migration, done(status, { message }));
  }
  const message = `Took ${trimmed.join(', ')} off the stored versions: ${proof}.`;
  const announcement = { type: 'Normal', reason: 'StoredVersionsTrimmed', message } as const;
  // As of the CRD that was verified: whoever says it again says it under the same name.
  const asVerified = { ...crd, resourceVersion: status.target?.crdResourceVersion ?? '' };
  await announce(task.doors, asVerified, announcement, task.signal);
  return say(task, migration, done(status, { message, trimmed }));
}

/** The CRD is, in all that it says, what it was when the last verification began. */
const isAsVerified = ({ status: { target, proof } }: Migration, crd: Crd): boolean =>
  target?.crdUid === crd.uid &&
  target.crdResourceVersion === crd.resourceVersion &&
  proof?.crdGeneration === crd.generation &&
  proof.version === storageVersionOf(crd);

async function takeRestore(
  task: StepTask,
  migration: Migration,
  lacking: readonly string[],
): Promise<Taken> {
  const { doors, target, signal } = task;
  const { crd } = target;
  if (crd === undefined) return { migration, goesOn: false };
  const defined = lacking.filter((one) => crd.versions.some(({ name }) => name === one));
  if (defined.length < lacking.length) {
    const lost = lacking.filter((one) => !defined.includes(one)).join(', ');
    const message =
      `${lost} is gone from CRD ${crd.name}, and objects may still be stored in it: a list of ` +
      'the kind fails then. Add it to spec.versions again, not served and not stored.';
    return sayBlocked(task, migration, { reason: 'VersionRemoved', message });
  }
  const whole = [...lacking, ...crd.storedVersions];
  if (!(await setStoredVersions(doors.kube, crd, whole, signal))) return lookAgain(migration);
  const message =
    `Put ${lacking.join(', ')} back on the stored versions: somebody took it off, and it is not ` +
    'proved yet that nothing is stored in it.';
  await announce(
    doors,
    crd,
    { type: 'Warning', reason: 'StoredVersionsRestored', message },
    signal,
  );
  const saying = restored(migration.status, lacking, message);
  return {
    migration: await write(doors, migration, saying, { goesOn: true, signal }),
    goesOn: true,
  };
}

/** The API server has moved on; it is read anew. */
const lookAgain = (migration: Migration): Taken => ({ migration, goesOn: true });

const WORKS = {
  preflight: takePreflight,
  settle: takeSettle,
  walk: takeWalk,
  confirm: takeConfirm,
  probe: takeProbe,
  trim: takeTrim,
} as const;
