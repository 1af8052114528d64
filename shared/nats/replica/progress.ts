// How far a replica is: which stream its versions are of, up to where everything has been applied,
// and whether a live message shows that one before it was missed.
import type { Clock } from '../../clock.ts';
import { type Marker, decodeCheckpoint, decodeFloor, decodeMarker } from '../../feed/messages.ts';
import {
  FLOOR_SUBJECT,
  MARKER_SUBJECT,
  STATUS_SUBJECT,
  ledgerOfCheckpoint,
} from '../../feed/subjects.ts';
import type { Holdings } from './holdings.ts';
import type { Ledgers } from './ledgers.ts';
import type { LiveMessage } from './source.ts';
import type { StoredMessage } from './page.ts';

/** Neither objects nor checkpoints. */
const APART: ReadonlySet<string> = new Set([MARKER_SUBJECT, FLOOR_SUBJECT, STATUS_SUBJECT]);

export interface Position {
  /** The marker's. */
  readonly id: string;
  /** Everything up to here has been applied; 0 when only a snapshot can help. */
  readonly version: number;
}

export interface ProgressOptions {
  readonly holdings: Holdings;
  readonly ledgers: Ledgers;
  readonly clock: Clock;
  readonly from: Position | undefined;
}

export class Progress {
  readonly #holdings: Holdings;
  readonly #ledgers: Ledgers;
  readonly #clock: Clock;
  #id: string | undefined;
  #version: number;
  #floor: number | undefined;
  /** Live messages above it are new: the newest that was applied, or where a connection began. */
  #lastLive = 0;
  /** The newest that was read from the stream: live, older ones may still be on their way. */
  #newestRead = 0;
  #verifiedAtMs: number | undefined;

  constructor({ holdings, ledgers, clock, from }: ProgressOptions) {
    this.#holdings = holdings;
    this.#ledgers = ledgers;
    this.#clock = clock;
    this.#id = from?.id;
    this.#version = from?.version ?? 0;
    this.#lastLive = this.#version;
  }

  get position(): Position | undefined {
    return this.#id === undefined ? undefined : { id: this.#id, version: this.#version };
  }

  get version(): number {
    return this.#version;
  }

  get verifiedAtMs(): number | undefined {
    return this.#verifiedAtMs;
  }

  /** Whether the stream still has all that happened since. */
  get canResume(): boolean {
    return this.#version > 0 && this.#floor !== undefined && this.#version >= this.#floor;
  }

  set floor(floor: number | undefined) {
    this.#floor = floor;
  }

  /** True when it is another stream than the one so far. */
  isOther({ id }: Marker): boolean {
    return id !== this.#id;
  }

  /** Nothing that was held so far has a version in this stream. */
  startOver(id: string): void {
    this.#id = id;
    this.forget();
  }

  /** The same of this stream: it lost its end, and what it lost was never so. */
  forget(): void {
    this.#version = 0;
    this.#lastLive = 0;
    this.#newestRead = 0;
    this.#verifiedAtMs = undefined;
    this.#holdings.startOver();
  }

  /** The sequences of one stream only grow. */
  goesBack({ sequence }: LiveMessage): boolean {
    return sequence <= this.#lastLive;
  }

  /** On another connection nothing older than what was read is still on its way. */
  lostConnection(): void {
    this.#lastLive = Math.max(this.#lastLive, this.#version);
  }

  /** The message before it on its subject never came; everything up to `version` did. */
  showsGap({ subject, lastSequence }: LiveMessage, version: number): boolean {
    if (lastSequence > version) return true;
    return lastSequence > (this.#holdings.versionOf(subject) ?? lastSequence);
  }

  applyStored(message: StoredMessage): void {
    this.#newestRead = Math.max(this.#newestRead, message.sequence);
    this.#apply(message);
  }

  /** All before it has been applied. Answers the marker when it is one, also one of no format. */
  applyLive(message: LiveMessage): Marker | 'unreadable' | undefined {
    const { subject, sequence, data } = message;
    this.#lastLive = sequence;
    if (sequence > this.#newestRead) this.#holdings.settle();
    if (subject === MARKER_SUBJECT) return decodeMarker(data) ?? 'unreadable';
    if (subject === FLOOR_SUBJECT) this.#floor = decodeFloor(data)?.version ?? this.#floor;
    this.#apply(message);
    const ledger = ledgerOfCheckpoint(subject);
    if (ledger !== undefined && this.#ledgers.compare(ledger)) this.#sawAgreement();
    return undefined;
  }

  /** Every message of the scope up to `version` has been applied. */
  reached(version: number): void {
    this.#version = Math.max(this.#version, version);
  }

  caughtUp(version: number): void {
    this.reached(version);
    if (this.#ledgers.caughtUp(version, this.#floor ?? Infinity)) this.#sawAgreement();
  }

  #apply(message: StoredMessage): void {
    const { subject, sequence, data } = message;
    if (APART.has(subject)) return;
    const ledger = ledgerOfCheckpoint(subject);
    const checkpoint = ledger === undefined ? undefined : decodeCheckpoint(data);
    if (ledger === undefined || checkpoint === undefined) return this.#holdings.apply(message);
    this.#ledgers.note(ledger, sequence, checkpoint);
  }

  #sawAgreement(): void {
    this.#verifiedAtMs = this.#clock.nowMs();
  }
}
