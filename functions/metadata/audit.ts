// Reads the whole stream once: what changed since the last sweep and was confirmed by nobody, and
// what the checkpoints of each ledger have to say. Holds sums, never the objects.
import {
  type Checkpoint,
  type ObjectMessage,
  decodeCheckpoint,
  isTombstone,
} from '../../shared/feed/messages.ts';
import { Digest, fingerprint } from '../../shared/feed/digest.ts';
import { CHECKPOINT, ledgersOf, parseSubject } from '../../shared/feed/subjects.ts';
import type { StoredMessage } from '../../shared/nats/jetstream.ts';
import type { Doubt } from './look.ts';
import { publishedFrom } from './observe.ts';
import type { Session } from './session.ts';
import { SLICES } from './sight.ts';

export interface LedgerSum {
  readonly digest: Digest;
  /** The newest sequence of its objects, tombstones included. */
  lastSequence: number;
  /** The newest sequence of anything that its filter matches. */
  lastWritten: number;
  /** Something of it was written while it was summed up. */
  isMoving: boolean;
  /** As it stands in the stream, with its sequence. */
  checkpoint: (Checkpoint & { readonly sequence: number }) | undefined;
}

export interface Audit {
  readonly ledgers: ReadonlyMap<string, LedgerSum>;
  /** Objects shown, by resource; an endpoint slice counts once, and its parts alone not at all. */
  readonly objects: ReadonlyMap<string, number>;
  /** Parts of endpoint slices that stand, less those that their heads name. */
  readonly strayParts: number;
  /** From here on nothing that was deleted is forgotten, as far as the time asked for tells. */
  readonly floor: number;
}

/** Everything as of the moment when it begins: what is written meanwhile is left out. */
export async function audit(
  session: Session,
  floorMs: number,
  signal: AbortSignal,
): Promise<Audit> {
  const { prefix } = session.feed;
  const ledgers = new Map<string, LedgerSum>();
  const objects = new Map<string, number>();
  let strayParts = 0;
  const { lastSequence } = await session.stream.state(signal);
  let floor: number | undefined;
  for await (const stored of session.stream.read(`${prefix}.>`, signal)) {
    if (stored.sequence > lastSequence) {
      noteLater(ledgers, stored.subject.slice(prefix.length + 1));
      continue;
    }
    // Whatever was written before it and since the time asked for would stand here as well.
    if (floor === undefined && Date.parse(stored.time) >= floorMs) floor = stored.sequence - 1;
    const shown = sumUp(ledgers, prefix, stored);
    if (shown === undefined) continue;
    const { resource, message } = shown;
    const isPart = resource === SLICES && message.node !== undefined;
    if (resource === SLICES) strayParts += strayBy(message);
    objects.set(resource, (objects.get(resource) ?? 0) + (isPart ? 0 : 1));
  }
  return { ledgers, objects, strayParts, floor: floor ?? lastSequence };
}

/** Its older message may have been summed up already, or be gone: the sum says nothing. */
function noteLater(ledgers: Map<string, LedgerSum>, subject: string): void {
  if (parseSubject(subject) === undefined) return;
  for (const name of ledgersOf(subject)) ledgerOf(ledgers, name).isMoving = true;
}

/** A part counts for itself, and its head against it. */
const strayBy = ({ node, nodes = [] }: ObjectMessage): number =>
  node === undefined ? -nodes.length : 1;

/** Answers the object that is shown, if it is one. */
function sumUp(
  ledgers: Map<string, LedgerSum>,
  prefix: string,
  stored: StoredMessage,
): { readonly resource: string; readonly message: ObjectMessage } | undefined {
  const subject = stored.subject.slice(prefix.length + 1);
  const place = parseSubject(subject);
  if (place === undefined) {
    noteOther(ledgers, subject, stored);
    return undefined;
  }
  const { message } = publishedFrom(prefix, stored);
  const isShown = message !== undefined && !isTombstone(message);
  const mark = isShown ? fingerprint(subject, stored.data) : undefined;
  for (const name of ledgersOf(subject)) {
    const ledger = ledgerOf(ledgers, name);
    ledger.lastSequence = stored.sequence;
    ledger.lastWritten = stored.sequence;
    if (mark !== undefined) ledger.digest.add(mark);
  }
  return isShown ? { resource: place.key.resource, message } : undefined;
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

function ledgerOf(ledgers: Map<string, LedgerSum>, name: string): LedgerSum {
  const known = ledgers.get(name);
  if (known !== undefined) return known;
  const made = {
    digest: new Digest(),
    lastSequence: 0,
    lastWritten: 0,
    isMoving: false,
    checkpoint: undefined,
  };
  ledgers.set(name, made);
  return made;
}

export interface Range {
  /** The last one that was confirmed. */
  readonly after: number;
  readonly upTo: number;
}

/** What stands from this range of versions and is not settled, by object. */
export async function doubtsIn(
  session: Session,
  { after, upTo }: Range,
  isSettled: (subject: string, sequence: number) => boolean,
  signal: AbortSignal,
): Promise<readonly Doubt[]> {
  const { prefix } = session.feed;
  const doubts = new Map<string, Doubt>();
  for await (const { subject, sequence } of session.stream.read(`${prefix}.>`, signal, after + 1)) {
    if (sequence > upTo) break;
    const place = subject.slice(prefix.length + 1);
    const key = parseSubject(place)?.key;
    if (key === undefined || isSettled(place, sequence)) continue;
    const name = `${key.resource} ${key.namespace}/${key.name}`;
    const doubt = doubts.get(name) ?? { key, subjects: new Set<string>() };
    doubt.subjects.add(place);
    doubts.set(name, doubt);
  }
  return [...doubts.values()];
}
