// The steps that touch the CRD's list of stored versions: taken off is what is proved, and put back
// what somebody took off without a proof.
import { announceOn } from './announce.ts';
import { asksEtcd } from './etcd-verdict.ts';
import type { Migration } from './migration.ts';
import { done, nextPass, restored } from './sayings.ts';
import { write } from './say.ts';
import {
  lookAgain,
  nowIsoOf,
  say,
  sayBlocked,
  type StepTask,
  type Taken,
  type Work,
} from './taking.ts';
import { type Crd, storageVersionOf } from './target.ts';
import { setStoredVersions } from './trim.ts';

export const takeTrim: Work = async (task, migration) => {
  const { deps, target, signal } = task;
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
  await setStoredVersions(deps.kube, crd, [version], signal);
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
  await announceOn(asVerified, announcement, task.deps, task.signal);
  return say(task, migration, done(status, { message, trimmed }));
}

/** The CRD is, in all that it says, what it was when the last verification began. */
const isAsVerified = ({ status: { target, proof } }: Migration, crd: Crd): boolean =>
  target?.crdUid === crd.uid &&
  target.crdResourceVersion === crd.resourceVersion &&
  proof?.crdGeneration === crd.generation &&
  proof.version === storageVersionOf(crd);

export async function takeRestore(
  task: StepTask,
  migration: Migration,
  lacking: readonly string[],
): Promise<Taken> {
  const { deps, target, signal } = task;
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
  if (!(await setStoredVersions(deps.kube, crd, whole, signal))) return lookAgain(migration);
  const message =
    `Put ${lacking.join(', ')} back on the stored versions: somebody took it off, and it is not ` +
    'proved yet that nothing is stored in it.';
  const announcement = { type: 'Warning', reason: 'StoredVersionsRestored', message } as const;
  await announceOn(crd, announcement, deps, signal);
  const saying = restored(migration.status, lacking, message);
  return {
    migration: await write(deps, migration, saying, { goesOn: true, signal }),
    goesOn: true,
  };
}
