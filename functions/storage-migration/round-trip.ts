// Before anything is written: does a conversion webhook give back what it was given. A sample is
// read in its old version and in the one that is to be stored, and the webhook is asked to make the
// old one of the new one again: a field that does not come back would be lost with every object.
import { convertBy } from '../../shared/kube/conversion.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { isRecord } from '../../shared/kube/json.ts';
import type { Question } from './clean.ts';
import type { Migration } from './migration.ts';
import { nameOf, placeOf } from './rewrite.ts';
import type { Word } from './sayings.ts';
import { isAccepted } from './schema-loss.ts';
import type { Crd } from './target.ts';

/** What a webhook forgets it forgets of the first objects, too. */
const SAMPLES = 3;
const READ_TIMEOUT_MS = 5_000;

export async function lossInRoundTrip(
  look: Question,
  { spec: { acceptedLoss = [] } }: Migration,
): Promise<Word | undefined> {
  const { kube, target, signal } = look;
  const { ref, crd, version } = target;
  // Where the stored version is not served nobody can read in it.
  if (crd?.webhook === undefined || ref.version !== version) return undefined;
  const old = crd.versions.filter(
    ({ name, served }) => served && name !== version && crd.storedVersions.includes(name),
  );
  if (old.length === 0) return undefined;
  try {
    const bounds = { timeoutMs: READ_TIMEOUT_MS, signal };
    const { items } = await kube.list(ref, { ...bounds, limit: SAMPLES, metadataOnly: true });
    for (const { metadata } of items) {
      for (const { name } of old) {
        const fields = await lostBetween(look, crd, placeOf(metadata), name);
        const lost = fields.filter((path) => !isAccepted(path, acceptedLoss));
        if (lost.length > 0) return loss(crd, nameOf(metadata), { old: name, version, lost });
      }
    }
    return undefined;
  } catch (error) {
    // Whether the API server can convert at all was asked before this.
    if (!isKubeError(error)) throw error;
    return undefined;
  }
}

async function lostBetween(
  { kube, target: { ref }, signal }: Question,
  { webhook }: Crd,
  place: ReturnType<typeof placeOf>,
  old: string,
): Promise<readonly string[]> {
  if (webhook === undefined) return [];
  const options = { signal, isOnce: true, timeoutMs: READ_TIMEOUT_MS };
  const before = await kube.get({ ...ref, version: old }, place, options);
  const stored = await kube.get(ref, place, options);
  // Somebody wrote it between the two: the next look takes it up.
  if (before?.metadata.resourceVersion !== stored?.metadata.resourceVersion) return [];
  if (before === null || stored === null) return [];
  const after = await convertBy(webhook, stored, before.apiVersion, signal);
  return after === undefined ? [] : missingIn(before, after);
}

/** Metadata the API server holds together itself. */
const NOT_COMPARED: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Paths that have a value before and none after, as `.spec.parts[].old`; each named once. */
export function missingIn(before: object, after: object): readonly string[] {
  const fields = Object.entries(before).filter(([name]) => !NOT_COMPARED.has(name));
  return [...new Set(missing(Object.fromEntries(fields), after, ''))];
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

/** Whoever leaves it out says the same. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.values(value).every(isEmpty);
}

const FIELDS_NAMED_MAX = 20;

interface Lost {
  readonly old: string;
  readonly version: string;
  readonly lost: readonly string[];
}

function loss({ name }: Crd, example: string, { old, version, lost }: Lost): Word {
  const message =
    `${example} does not come back whole: the conversion webhook of CRD ${name} makes ${version} ` +
    `of ${old}, and of that ${old} again without ${lost.slice(0, FIELDS_NAMED_MAX).join(', ')}. ` +
    'Repair the webhook, or name the fields in spec.acceptedLoss.';
  return { reason: 'FieldsWouldBeLost', message };
}
