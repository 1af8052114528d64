// Removes one stored backup, and nothing that is not it. Its facts go first: a backup without facts
// is none, so whatever is left by a program that was killed between both is no backup either, and
// the next run knows it by its sha256.
import { Failure } from '../../../shared/errors.ts';
import { isRecord } from '../../../shared/kube/json.ts';

/** The backup is known by these. */
export interface Known {
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** One of both files, as it was found. */
export interface Found {
  readonly sizeBytes: number;
  /** By which a writer marks what belongs together, where the place keeps that. */
  readonly writer: string | undefined;
  /** Fails when it is another one meanwhile. */
  delete(): Promise<void>;
}

export interface FoundFacts extends Found {
  readonly text: string;
}

/** The place that a backup is stored in. */
export interface Store {
  /** As its user named it. */
  readonly name: string;
  facts(signal: AbortSignal): Promise<FoundFacts | undefined>;
  backup(signal: AbortSignal): Promise<Found | undefined>;
  /** The hash of all of it, as it was found. */
  sha256(signal: AbortSignal): Promise<string>;
}

/** Whether there was anything to remove. */
export async function remove(store: Store, known: Known, signal: AbortSignal): Promise<boolean> {
  const facts = await store.facts(signal);
  const backup = await store.backup(signal);
  if (facts !== undefined) assertFacts(store, facts, known);
  if (backup !== undefined) await assertBackup(store, { facts, backup }, known, signal);
  signal.throwIfAborted();
  await facts?.delete();
  await backup?.delete();
  return facts !== undefined || backup !== undefined;
}

function assertFacts({ name }: Store, { text }: FoundFacts, known: Known): void {
  const { sha256, sizeBytes } = parsed(text);
  if (sha256 === known.sha256 && sizeBytes === known.sizeBytes) return;
  throw changed(name, 'its facts are those of another one');
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = JSON.parse(text);
    return isRecord(read) ? read : {};
  } catch {
    return {};
  }
}

async function assertBackup(
  store: Store,
  { facts, backup }: { readonly facts: FoundFacts | undefined; readonly backup: Found },
  known: Known,
  signal: AbortSignal,
): Promise<void> {
  const { sizeBytes, writer } = backup;
  if (sizeBytes !== known.sizeBytes) {
    throw changed(store.name, `it has ${sizeBytes} bytes, not ${known.sizeBytes}`);
  }
  if (facts !== undefined && isOfOne(facts.writer, writer)) return;
  // Without its facts, or without the mark of who wrote both.
  const sha256 = await store.sha256(signal);
  if (sha256 !== known.sha256) throw changed(store.name, `its sha256 is ${sha256}`);
}

/** Attempts at one backup begin their marks alike, up to a full stop. */
function isOfOne(one: string | undefined, other: string | undefined): boolean {
  const [first, second] = [one, other].map((writer) => writer?.split('.')[0]);
  return first !== undefined && first !== '' && first === second;
}

export function changed(name: string, why: string, cause?: unknown): Failure {
  const message = `${name} is not the backup that was to be removed: ${why}. It stays.`;
  return new Failure('BACKUP_IS_OTHER', message, { object: name, cause });
}
