// Before an object is written: would it lose fields on its way through a conversion webhook to the
// version that is to be stored. An apply of nothing that is asked for dryly in the old version goes
// there and back within the API server: a field that its answer lacks would be lost by the write.
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError, type KubeError } from '../../shared/kube/errors.ts';
import { isRecord } from '../../shared/kube/json.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Question } from './clean.ts';
import type { Migration } from './migration.ts';
import { applyAsItIs, nameOf, placeOf } from './rewrite.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { isAccepted } from './schema-loss.ts';
import type { Target } from './observe.ts';

/** A webhook that drops a field drops it from the first objects too. */
const SAMPLES = 5;
const TIMEOUT_MS = 5_000;
/**
 * Accepts the loss of every field: then no old version is asked for, and a webhook that refuses one
 * stops no write.
 */
const EVERYTHING = '.*';

export interface LossQuestion {
  readonly kube: KubeClient;
  readonly target: Target;
  readonly acceptedLoss: readonly string[];
  readonly signal: AbortSignal;
  /** Waited for before each apply that is asked for. */
  readonly turn?: () => Promise<void>;
}

/** Why this object, as it was seen, must not be written; undefined when it loses nothing. */
export const lossOf = (question: LossQuestion, object: KubeObject): Promise<Reason | undefined> =>
  lossCalled('It', question, object);

/** The same of the first objects of the kind; throws when none of them can be asked about. */
export async function lossInRoundTrip(
  { kube, target, signal }: Question,
  { spec: { acceptedLoss = [] } }: Migration,
): Promise<Reason | undefined> {
  const question = { kube, target, acceptedLoss, signal };
  if (versionsToAsk(question).length === 0) return undefined;
  const options = { timeoutMs: TIMEOUT_MS, signal, limit: SAMPLES, isBounded: true };
  const { items } = await kube.list(target.ref, { ...options, metadataOnly: true });
  const errors: KubeError[] = [];
  for (const sample of items) {
    try {
      const loss = await lossCalled(nameOf(sample.metadata), question, sample);
      if (loss !== undefined) return loss;
    } catch (error) {
      // There is no time to wait for others as long.
      if (!isKubeError(error) || error.code === 'KUBE_TIMEOUT') throw error;
      errors.push(error);
    }
  }
  const [first] = errors;
  // Single ones are asked about once more before they are written.
  if (first !== undefined && errors.length === items.length) throw first;
  return undefined;
}

async function lossCalled(
  name: string,
  question: LossQuestion,
  object: KubeObject,
): Promise<Reason | undefined> {
  const { target, acceptedLoss } = question;
  for (const old of versionsToAsk(question)) {
    const fields = await lostThrough(question, object, old);
    const lost = fields.filter((path) => !isAccepted(path, acceptedLoss));
    if (lost.length > 0) return lossReason(name, target, old, lost);
  }
  return undefined;
}

/** The old versions in which an object may be stored, and can be asked for whole. */
function versionsToAsk({ target: { crd, version }, acceptedLoss }: LossQuestion) {
  if (crd?.hasWebhook !== true || acceptedLoss.includes(EVERYTHING)) return [];
  return crd.versions
    .filter(({ name, served }) => served && name !== version && crd.storedVersions.includes(name))
    .map(({ name }) => name);
}

async function lostThrough(
  { kube, target, signal, turn }: LossQuestion,
  object: KubeObject,
  old: string,
): Promise<readonly string[]> {
  const ref = { ...target.ref, version: old };
  const options = { signal, isOnce: true, timeoutMs: TIMEOUT_MS };
  const before = await kube.get(ref, placeOf(object.metadata), options);
  // The write rests on what was seen, and fails.
  if (before?.metadata.resourceVersion !== object.metadata.resourceVersion) return [];
  await turn?.();
  const bounds = { dryRun: true, timeoutMs: TIMEOUT_MS, metadataOnly: false };
  const after = await applyAsItIs({ kube, ref, kind: target.kind, signal }, object, bounds);
  return missingIn(before, after);
}

/** The API server holds the rest of it together itself. */
const IN_METADATA = ['labels', 'annotations'] as const;
const NOT_COMPARED: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Paths that have a value before and none after, as `.spec.parts[].old`; each named once. */
export function missingIn(before: object, after: object): readonly string[] {
  return [...new Set(missing(comparedOf(before), comparedOf(after), ''))];
}

function comparedOf(object: object): Readonly<Record<string, unknown>> {
  const fields = Object.entries(object).filter(([name]) => !NOT_COMPARED.has(name));
  const metadata: unknown = 'metadata' in object ? object.metadata : undefined;
  const own = IN_METADATA.map((name) => [name, isRecord(metadata) ? metadata[name] : undefined]);
  return { ...Object.fromEntries(fields), metadata: Object.fromEntries(own) };
}

function missing(before: unknown, after: unknown, path: string): readonly string[] {
  if (isEmpty(before)) return [];
  if (after === undefined || after === null) return [path];
  if (Array.isArray(before)) {
    const there: readonly unknown[] = Array.isArray(after) ? after : [];
    return before.flatMap((one, index) => missing(one, there[index], `${path}[]`));
  }
  if (!isRecord(before)) return [];
  const there = isRecord(after) ? after : {};
  return Object.entries(before).flatMap(([name, one]) =>
    missing(one, there[name], `${path}.${name}`),
  );
}

/** True for values that mean the same as a missing field. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.values(value).every(isEmpty);
}

const FIELDS_NAMED_MAX = 20;

function lossReason(
  subject: string,
  { crd, version }: Target,
  old: string,
  lost: readonly string[],
): Reason {
  const message =
    `${subject} does not come back whole: the conversion webhook of CRD ${crd?.name ?? ''} makes ` +
    `${version} of ${old}, and of that ${old} again without ` +
    `${lost.slice(0, FIELDS_NAMED_MAX).join(', ')}. ` +
    'Repair the webhook, or name the fields in spec.acceptedLoss.';
  return { reason: 'FieldsWouldBeLost', message };
}
