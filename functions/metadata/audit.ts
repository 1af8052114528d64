// Reads the whole stream once: what changed since the last sweep and was confirmed by nobody, and
// what the checkpoints of each ledger have to say. Holds sums, never the objects.
import {
  type Checkpoint,
  type ObjectMessage,
  decodeCheckpoint,
  isTombstone,
} from '../../shared/feed/messages.ts';
import { Digest, fingerprint } from '../../shared/feed/digest.ts';
import { CHECKPOINT, type ObjectKey, ledgersOf, parseSubject } from '../../shared/feed/subjects.ts';
import type { StoredMessage } from '../../shared/nats/jetstream.ts';
import type { Published } from './decide.ts';
import { publishedFrom } from './observe.ts';
import type { Session } from './session.ts';

export interface LedgerSum {
  readonly digest: Digest;
  /** The newest sequence of its objects, tombstones included. */
  lastSequence: number;
  /** The newest sequence of anything that its filter matches. */
  lastWritten: number;
  /** As it stands in the stream, with its sequence. */
  checkpoint: (Checkpoint & { readonly sequence: number }) | undefined;
}

export interface Audit {
  readonly ledgers: ReadonlyMap<string, LedgerSum>;
  /** Objects shown, by resource; an endpoint slice counts once. */
  readonly objects: ReadonlyMap<string, number>;
  readonly lastSequence: number;
  /** The newest sequence that is older than the time asked for: what is after it is whole. */
  readonly sequenceBefore: number;
}

export async function audit(
  session: Session,
  beforeMs: number,
  signal: AbortSignal,
): Promise<Audit> {
  const { prefix } = session.feed;
  const ledgers = new Map<string, LedgerSum>();
  const objects = new Map<string, number>();
  let lastSequence = 0;
  let sequenceBefore = 0;
  for await (const stored of session.stream.read(`${prefix}.>`, signal)) {
    lastSequence = stored.sequence;
    if (Date.parse(stored.time) < beforeMs) sequenceBefore = stored.sequence;
    sumUp(ledgers, objects, prefix, stored);
  }
  return { ledgers, objects, lastSequence, sequenceBefore };
}

function sumUp(
  ledgers: Map<string, LedgerSum>,
  objects: Map<string, number>,
  prefix: string,
  stored: StoredMessage,
): void {
  const subject = stored.subject.slice(prefix.length + 1);
  const place = parseSubject(subject);
  if (place === undefined) return noteOther(ledgers, subject, stored);
  const { message } = publishedFrom(prefix, stored);
  const isShown = message !== undefined && !isTombstone(message);
  const mark = isShown ? fingerprint(subject, stored.data) : undefined;
  for (const name of ledgersOf(subject)) {
    const ledger = ledgerOf(ledgers, name);
    ledger.lastSequence = stored.sequence;
    ledger.lastWritten = stored.sequence;
    if (mark !== undefined) ledger.digest.add(mark);
  }
  if (isShown && isHead(place.key, message)) {
    objects.set(place.key.resource, (objects.get(place.key.resource) ?? 0) + 1);
  }
}

/** Checkpoints, and in the place that all share the marker and the floor. */
function noteOther(
  ledgers: Map<string, LedgerSum>,
  subject: string,
  { sequence, data }: StoredMessage,
): void {
  const [scope = '', rest = ''] = subject.split('.');
  const ledger = ledgerOf(ledgers, `${scope}.${rest}`);
  // The filter of a namespace matches objects alone.
  if (scope !== 'namespace') ledger.lastWritten = sequence;
  const checkpoint = subject.endsWith(`.${CHECKPOINT}`) ? decodeCheckpoint(data) : undefined;
  if (checkpoint !== undefined) ledger.checkpoint = { ...checkpoint, sequence };
}

/** The parts of an endpoint slice on its nodes are no objects of their own. */
const isHead = ({ resource }: ObjectKey, { node }: ObjectMessage): boolean =>
  resource !== 'endpointslices' || node === undefined;

function ledgerOf(ledgers: Map<string, LedgerSum>, name: string): LedgerSum {
  const known = ledgers.get(name);
  if (known !== undefined) return known;
  const made = { digest: new Digest(), lastSequence: 0, lastWritten: 0, checkpoint: undefined };
  ledgers.set(name, made);
  return made;
}

/** What was published after `version`, by object. */
export async function publishedSince(
  session: Session,
  version: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Suspect>> {
  const { prefix } = session.feed;
  const suspects = new Map<string, Suspect>();
  for await (const stored of session.stream.read(`${prefix}.>`, signal, version + 1)) {
    const entry = publishedFrom(prefix, stored);
    const key = parseSubject(entry.subject)?.key;
    if (key === undefined) continue;
    const name = `${key.resource} ${key.namespace}/${key.name}`;
    const known = suspects.get(name) ?? { key, entries: [] };
    known.entries.push(entry);
    suspects.set(name, known);
  }
  return suspects;
}

/** An object about which something was published that no sweep has confirmed. */
export interface Suspect {
  readonly key: ObjectKey;
  readonly entries: Published[];
}
