// Before anything is written: may this function do all that it will have to, would a sample come
// through, and would any object lose a field. Answers why not, in words that say what to do.
import { MODE_OPTIONS, rightsOf } from '../../shared/api/migration-rights.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type KubeError, isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { resourceName } from '../../shared/kube/paths.ts';
import { isAllowed } from './allowed.ts';
import { type Question, wouldBeClean } from './clean.ts';
import { type FieldScan, lossOfFields } from './field-loss.ts';
import { cleansFields, type Migration } from './migration.ts';
import { modeUnavailable, servedMigrator } from './migrator.ts';
import { applyAsItIs, nameOf, placeOf } from './rewrite.ts';
import { lossInRoundTrip } from './round-trip.ts';
import { RIGHTS_MISSING } from './status.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { hasStaleFields, undefinedVersionIn } from './stale-fields.ts';
import type { Crd, Target } from './observe.ts';

export async function preflight(
  question: FieldScan & Question,
  migration: Migration,
): Promise<Reason | undefined> {
  const { kube, target, signal } = question;
  return (
    (await missingMigrator(kube, migration, signal)) ??
    (await missingRights(kube, migration, target, signal)) ??
    (await refusedSample(question, migration)) ??
    (await lossOfFields(question, migration)) ??
    (await lossOfSamples(question, migration))
  );
}

async function missingMigrator(
  kube: KubeClient,
  { spec: { mode } }: Migration,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  if (mode === 'Ballast') return undefined;
  const served = await servedMigrator(kube, mode, signal);
  return served === undefined ? modeUnavailable(mode) : undefined;
}

async function missingRights(
  kube: KubeClient,
  { spec: { mode, dryRun } }: Migration,
  { ref, crd }: Target,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const crdName = dryRun ? undefined : crd?.name;
  const missing: string[] = [];
  for (const right of rightsOf({ ...ref, mode, crdName })) {
    for (const verb of right.verbs) {
      if (await isAllowed(kube, right, verb, signal)) continue;
      missing.push(`${verb} ${resourceName(right, right.subresource)}`);
    }
  }
  if (missing.length === 0) return undefined;
  const option = mode === 'Ballast' ? '' : ` --mode ${MODE_OPTIONS[mode]}`;
  const options = `${resourceName(ref)}${option} --rights`;
  const command = `npm run -s migrate -- ${options} | kubectl apply -f -`;
  const message = `The function may not ${missing.join(', ')}. Grant it: ${command}`;
  return { reason: RIGHTS_MISSING, message };
}

/** The first ones may be just those that nobody can convert. */
const SAMPLES = 5;
/** A conversion webhook that hangs must not take the whole request with it. */
const SAMPLE_TIMEOUT_MS = 5_000;

/** A few objects read and, dryly, written: a conversion webhook that is away shows here. */
export async function refusedSample(
  question: Question,
  migration: Migration,
): Promise<Reason | undefined> {
  const { kube, target, signal } = question;
  const isWritable = cleansFields(migration, target.crd) ? wouldBeWritten : wouldBeApplied;
  let first: Reason | undefined;
  try {
    // Asked again for a while: just after a change of the CRD a list is refused for a moment.
    const options = { limit: SAMPLES, isBounded: true, signal, timeoutMs: SAMPLE_TIMEOUT_MS };
    const { items } = await kube.list(target.ref, { ...options, metadataOnly: true });
    for (const sample of items) {
      const error = await refusalOf(question, sample, isWritable);
      const refused =
        error && (staleFields(migration, target, sample, error) ?? obstacleOf(error, target.crd));
      if (refused === undefined) return undefined;
      first ??= refused;
      // There is no time to wait for others as long.
      if (error?.code === 'KUBE_TIMEOUT') return refused;
    }
    return first;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return obstacleOf(error, target.crd);
  }
}

async function refusalOf(
  question: Question,
  sample: KubeObject,
  write: DryWrite,
): Promise<KubeError | undefined> {
  const { kube, target, signal } = question;
  const { ref, crd } = target;
  const options = { signal, isOnce: true, timeoutMs: SAMPLE_TIMEOUT_MS };
  try {
    // Each version that is served asks the webhook another question.
    for (const { name: version } of crd?.versions.filter(({ served }) => served) ?? []) {
      await kube.get({ ...ref, version }, placeOf(sample.metadata), options);
    }
    await write(question, sample);
    return undefined;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return error;
  }
}

type DryWrite = (question: Question, sample: KubeObject) => Promise<unknown>;

const wouldBeApplied: DryWrite = ({ kube, target, signal }, sample) =>
  applyAsItIs({ kube, ...target, signal }, sample, { dryRun: true, timeoutMs: SAMPLE_TIMEOUT_MS });

/** An object with stale fields may accept no apply before it is cleaned. */
const wouldBeWritten: DryWrite = (question, sample) =>
  hasStaleFields(question.target, sample)
    ? wouldBeClean(question, sample)
    : wouldBeApplied(question, sample);

/** Why no apply on it can succeed, whoever makes it. */
function staleFields(
  { spec: { dryRun } }: Migration,
  target: Target,
  sample: KubeObject,
  error: KubeError,
): Reason | undefined {
  const version = undefinedVersionIn(target, sample);
  if (version === undefined || !UNREADABLE.test(error.answer?.message ?? '')) return undefined;
  const way = dryRun
    ? 'A migration that is not dry takes them out'
    : 'Set spec.cleanManagedFields to true';
  const message =
    `The managedFields of ${nameOf(sample.metadata)} name ${version}, which CRD ` +
    `${target.crd?.name ?? ''} does not define any more, so no server-side apply on it succeeds. ` +
    `${way}, or add ${version} to spec.versions again, not served and not stored. ` +
    error.message;
  return { reason: 'ManagedFieldsStale', message };
}

/**
 * A rule that refuses single objects is no obstacle here: the pass reports those when it writes
 * them.
 */
async function lossOfSamples(
  question: Question,
  migration: Migration,
): Promise<Reason | undefined> {
  try {
    return await lossInRoundTrip(question, migration);
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return obstacleOf(error, question.target.crd);
  }
}

/** A failure of the API server itself. A refusal of one object concerns that object alone. */
function obstacleOf(error: KubeError, crd: Crd | undefined): Reason | undefined {
  const { code, message, answer } = error;
  if (!SERVER_FAILURES.has(code)) return undefined;
  // Nobody answers at all: there is no status to say it in either.
  if (answer === undefined && code !== 'KUBE_TIMEOUT') throw error;
  const said = answer?.message ?? '';
  if (crd !== undefined && UNREADABLE.test(said)) return unreadable(crd, message);
  if (crd?.hasWebhook === true && (answer === undefined || /conver/.test(said))) {
    const help = `The conversion webhook of CRD ${crd.name} does not convert a sample: repair it.`;
    return { reason: 'ConversionFails', message: `${help} ${message}` };
  }
  if (code !== 'KUBE_THROTTLED') {
    return { reason: 'SampleFails', message: `A sample cannot be read and written. ${message}` };
  }
  const help = 'The API server has too much to do; it goes on when that is over.';
  return { reason: 'Throttled', message: `${help} ${message}` };
}

const SERVER_FAILURES: ReadonlySet<string> = new Set([
  'KUBE_UNAVAILABLE',
  'KUBE_TIMEOUT',
  'KUBE_THROTTLED',
]);

/** With these words it says that an object is stored in a version that the CRD has not. */
const UNREADABLE = /invalid group\/version/;

function unreadable({ name }: Crd, message: string): Reason {
  const help =
    `The API server cannot list CRD ${name}: something is stored that it cannot read. If a ` +
    'version was removed from spec.versions, add it again, not served and not stored.';
  return { reason: 'ObjectsUnreadable', message: `${help} ${message}` };
}

/** An error that stops a pass, as a reason to wait; undefined for errors that the caller throws. */
export function obstacleIn(error: unknown, crd: Crd | undefined): Reason | undefined {
  if (!isKubeError(error)) return undefined;
  if (error.code === 'KUBE_FORBIDDEN') return { reason: RIGHTS_MISSING, message: error.message };
  const isUnanswered = error.answer === undefined && error.code !== 'KUBE_TIMEOUT';
  return isUnanswered ? undefined : obstacleOf(error, crd);
}
