// The steps that change the CRD's list of stored versions: `trim` removes the versions that are
// proved unused, `restore` puts back versions that somebody removed without proof.
import { type ObjectEvent, recordEvent } from '../../shared/kube/event-recorder.ts';
import { apiVersionOf } from '../../shared/kube/objects.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { CRDS } from '../../shared/kube/crds.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { asksEtcd } from './etcd-verdict.ts';
import type { Migration } from './migration.ts';
import { done, nextPass, restored } from './status.ts';
import { updateStatus } from './write-status.ts';
import {
  reconcileAgain,
  nowIsoOf,
  finish,
  finishBlocked,
  type StepContext,
  type StepResult,
  type StepHandler,
} from './step-context.ts';
import { type Crd, storageVersionOf } from './observe.ts';

export const applyTrim: StepHandler = async (context, migration) => {
  const { deps, target, signal } = context;
  const { spec, status } = migration;
  const { crd } = target;
  const version = status.proof?.version ?? '';
  if (crd === undefined) {
    const message = `Everything is stored as ${version}; there is no list to trim.`;
    return finish(context, migration, done(status, { message }));
  }
  const others = crd.storedVersions.filter((one) => one !== version);
  if (others.length === 0) return applyTrimmed(context, migration, crd);
  if (spec.trim === 'Never') {
    const message = `Everything is stored as ${version}; spec.trim is Never, so the list stays.`;
    return finish(context, migration, done(status, { message }));
  }
  const isWhole = !asksEtcd(migration) || status.proof?.oracle === 'SecondPassAndEtcd';
  if (!isWhole || !isAsVerified(migration, crd)) {
    // Somebody wrote to the CRD since: the proof may be of another state. Or etcd is asked now.
    const { proof: _proof, ...rest } = status;
    return finish(context, migration, nextPass(rest, 'Verifying', nowIsoOf(context), crd));
  }
  await setStoredVersions(deps.kube, crd, [version], signal);
  return reconcileAgain(migration);
};

/** The list names the proved version alone: who trimmed it may have died before he said so. */
async function applyTrimmed(
  context: StepContext,
  migration: Migration,
  crd: Crd,
): Promise<StepResult> {
  const { status } = migration;
  const { version = '', objects = 0 } = status.proof ?? {};
  const trimmed = (status.storedVersions ?? []).filter((one) => one !== version);
  const proof = `all ${objects} objects are proved to be stored as ${version}`;
  if (trimmed.length === 0) {
    const message = `There is nothing to take off the stored versions: ${proof}.`;
    return finish(context, migration, done(status, { message }));
  }
  const message = `Took ${trimmed.join(', ')} off the stored versions: ${proof}.`;
  const event = { type: 'Normal', reason: 'StoredVersionsTrimmed', message } as const;
  // As of the CRD that was verified: whoever says it again says it under the same name.
  const asVerified = { ...crd, resourceVersion: status.target?.crdResourceVersion ?? '' };
  await recordEventOn(asVerified, event, context.deps, context.signal);
  return finish(context, migration, done(status, { message, trimmed }));
}

/** The CRD is, in all that it says, what it was when the last verification began. */
const isAsVerified = ({ status: { target, proof } }: Migration, crd: Crd): boolean =>
  target?.crdUid === crd.uid &&
  target.crdResourceVersion === crd.resourceVersion &&
  proof?.crdGeneration === crd.generation &&
  proof.version === storageVersionOf(crd);

export async function applyRestore(
  context: StepContext,
  migration: Migration,
  lacking: readonly string[],
): Promise<StepResult> {
  const { deps, target, signal } = context;
  const { crd } = target;
  if (crd === undefined) return { migration, goesOn: false };
  const defined = lacking.filter((one) => crd.versions.some(({ name }) => name === one));
  if (defined.length < lacking.length) {
    const lost = lacking.filter((one) => !defined.includes(one)).join(', ');
    const message =
      `${lost} is gone from CRD ${crd.name}, and objects may still be stored in it: a list of ` +
      'the kind fails then. Add it to spec.versions again, not served and not stored.';
    return finishBlocked(context, migration, { reason: 'VersionRemoved', message });
  }
  const whole = [...lacking, ...crd.storedVersions];
  if (!(await setStoredVersions(deps.kube, crd, whole, signal))) return reconcileAgain(migration);
  const message =
    `Put ${lacking.join(', ')} back on the stored versions: somebody took it off, and it is not ` +
    'proved yet that nothing is stored in it.';
  const event = { type: 'Warning', reason: 'StoredVersionsRestored', message } as const;
  await recordEventOn(crd, event, deps, signal);
  const update = restored(migration.status, lacking, message);
  return {
    migration: await updateStatus(deps, migration, update, { goesOn: true, signal }),
    goesOn: true,
  };
}

/** False when the CRD has changed since it was read, so it has to be read again. */
async function setStoredVersions(
  kube: KubeClient,
  { name, uid, resourceVersion }: Crd,
  storedVersions: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  // The API server checks nothing of this list but the precondition.
  const body = { metadata: { uid, resourceVersion }, status: { storedVersions } };
  const target = { name, subresource: 'status' };
  try {
    await kube.patch(CRDS, target, { type: 'merge', body }, { signal });
    return true;
  } catch (error) {
    if (isKubeError(error, 'KUBE_CONFLICT')) return false;
    throw error;
  }
}

/** Writes an event on the CRD: `kubectl describe crd` then shows it beside the list. */
async function recordEventOn(
  { name, uid, resourceVersion }: Pick<Crd, 'name' | 'uid' | 'resourceVersion'>,
  event: ObjectEvent,
  { kube, clock }: Pick<Deps, 'kube' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const involved = {
    apiVersion: apiVersionOf(CRDS),
    kind: 'CustomResourceDefinition',
    name,
    uid,
    key: `${event.reason.toLowerCase()}.${resourceVersion}`,
  };
  const recorder = { kube, component: FIELD_MANAGER, nowMs: clock.nowMs() };
  await recordEvent(recorder, involved, event, signal);
}
