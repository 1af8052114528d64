// A picture of one scope of a feed that is kept true: what an agent embeds. It connects in the
// background, survives whatever happens to NATS and to the feed, says how far it is, and answers
// from memory at any time.
import { type Clock, systemClock } from '../../clock.ts';
import type { AccessSource } from '../access.ts';
import { type Bookmark, bookmarkOf, entriesOf } from './bookmark.ts';
import { Catalog } from './catalog.ts';
import { type Change, Changes } from './changes.ts';
import { Follower } from './follower.ts';
import { Holdings } from './holdings.ts';
import { type LedgerRow, Ledgers } from './ledgers.ts';
import type { BufferLimits } from './live-buffer.ts';
import { Progress } from './progress.ts';
import { type Scope, countsLedger, filtersOf, ledgerOf } from './scope.ts';
import { Source } from './source.ts';
import { type ReplicaState, StateBoard } from './state.ts';
import { Sweeps } from './sweeps.ts';

export interface ReplicaOptions {
  /** `nats://host:port` or `tls://host:port`; before the host may be a login, or a token. */
  readonly url: string;
  /** An authority of one's own, a certificate, an NKey or a JWT: what a url cannot say. */
  readonly access?: AccessSource | undefined;
  readonly feed: string;
  readonly scope: Scope;
  /** Shown by NATS among its connections. */
  readonly name?: string;
  /** The inbox prefix for answers; `_INBOX.<user>` when absent, as the users' permissions say. */
  readonly inboxPrefix?: string;
  /**
   * The prefix of JetStream's API in this user's account: `ballast-api` when absent, as readers'
   * accounts import it. In the account that has the stream it is `$JS.API`.
   */
  readonly apiPrefix?: string | undefined;
  readonly clock?: Clock;
  /**
   * The content of an earlier process. Only messages since then are read, if the feed still has
   * them.
   */
  readonly resumeFrom?: Bookmark | undefined;
  /** How much of what happens meanwhile is kept while catching up. */
  readonly bufferLimits?: BufferLimits;
  readonly log?: { warn(fields: object, message: string): void };
}

export interface ReplicaCounts {
  readonly snapshots: number;
  readonly resumes: number;
  /** Times that a live message showed that another one was missed. */
  readonly gaps: number;
  /** Times that more came while catching up than was kept. */
  readonly overflows: number;
  readonly disconnects: number;
  readonly digestMismatches: number;
  /** Checkpoints of a state that was not remembered any more, or not yet. */
  readonly checkpointsPassedOver: number;
  readonly heals: number;
  /** Messages that were none of the feed's. */
  readonly foreign: number;
  /** Times that a consumer of changes lost its place. */
  readonly slow: number;
}

/** Until the marker says it. */
const HISTORY_SECONDS = 3_600;

/** Never throws for NATS being away. */
export function openReplica(options: ReplicaOptions): Replica {
  return new Replica(options);
}

export class Replica {
  readonly catalog = new Catalog({ historySeconds: HISTORY_SECONDS });
  readonly #board = new StateBoard();
  readonly #closed = new AbortController();
  readonly #ledgers: Ledgers;
  readonly #holdings: Holdings;
  readonly #progress: Progress;
  readonly #changes: Changes;
  readonly #source: Source;
  readonly #follower: Follower;
  readonly #running: Promise<void>;

  constructor(options: ReplicaOptions) {
    const { scope, clock = systemClock, url, feed, inboxPrefix, apiPrefix, log } = options;
    const { name = `replica-${feed}`, bufferLimits, access } = options;
    const { catalog } = this;
    const filters = filtersOf(scope);
    const changes = new Changes(() => ({
      version: this.#progress.version,
      entries: catalog.entries(),
    }));
    const ledgers = new Ledgers(countsLedger(scope), () => clock.nowMs());
    const holdings = new Holdings({
      catalog,
      ledgers,
      ledgerOf: (subject) => ledgerOf(scope, subject),
      emit: (change) => changes.emit(change),
    });
    const from = restore(holdings, ledgers, options.resumeFrom);
    const progress = new Progress({ holdings, ledgers, clock, from });
    const sweeps = new Sweeps(clock, (swept) => this.#board.setSwept(swept));
    this.#changes = changes;
    this.#ledgers = ledgers;
    this.#holdings = holdings;
    this.#progress = progress;
    const follower = new Follower({
      filters,
      holdings,
      ledgers,
      progress,
      board: this.#board,
      clock,
      bufferLimits,
      sweeps,
      onMarker: (marker) => {
        catalog.setHistorySeconds(marker.historySeconds);
        sweeps.areDue(marker);
      },
      warn: (fields, message) => log?.warn({ feed, ...fields }, message),
    });
    this.#follower = follower;
    this.#source = new Source(
      { url, access, feed, filters, name, clock, inboxPrefix, apiPrefix },
      follower,
    );
    this.#running = follower.run(this.#source);
  }

  get state(): ReplicaState {
    return this.#board.state;
  }

  get counts(): ReplicaCounts {
    return {
      ...this.#follower.counts,
      digestMismatches: this.#ledgers.mismatches,
      checkpointsPassedOver: this.#ledgers.passedOver,
      foreign: this.#holdings.foreign,
      slow: this.#changes.slow,
    };
  }

  /**
   * The ledgers that are compared with checkpoints, and the last checkpoint that agreed with each.
   */
  get ledgers(): readonly LedgerRow[] {
    return this.#ledgers.rows;
  }

  /** Called with every state from now on; answers how to end that. */
  watchState(listener: (state: ReplicaState) => void): () => void {
    return this.#board.watch(listener);
  }

  /**
   * Delivers the content as added, and then every change, until the signal aborts or the replica is
   * closed. A consumer that falls far behind receives `resync` and starts over.
   */
  changes(signal?: AbortSignal): AsyncIterable<Change> {
    return this.#changes.stream(signal);
  }

  /** Resolves with the version as soon as it is current, at `minVersion` or later. */
  async whenCurrent(
    options: { readonly minVersion?: number; readonly signal?: AbortSignal } = {},
  ): Promise<number> {
    const { minVersion = 0, signal } = options;
    const closed = this.#closed.signal;
    const bound = signal === undefined ? closed : AbortSignal.any([signal, closed]);
    await this.#board.until(
      ({ phase, version }) => phase === 'current' && version >= minVersion,
      bound,
    );
    return this.state.version;
  }

  /** To store, and to resume from; undefined before anything was read. */
  bookmark(): Bookmark | undefined {
    const { position } = this.#progress;
    if (position === undefined) return undefined;
    // A content that differs from a checkpoint is not worth resuming from.
    const version = this.#ledgers.difference === undefined ? position.version : 0;
    return bookmarkOf(position.id, version, this.catalog.entries());
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error('the replica was closed'));
    this.#follower.close();
    this.#changes.close();
    await this.#source.close();
    await this.#running;
  }
}

function restore(holdings: Holdings, ledgers: Ledgers, bookmark: Bookmark | undefined) {
  const entries = bookmark === undefined ? undefined : entriesOf(bookmark);
  if (bookmark === undefined || entries === undefined) return undefined;
  for (const entry of entries) holdings.restore(entry);
  const { id, version } = bookmark;
  ledgers.restored(version);
  // Without a version, the versions of the entries may be of different streams.
  if (version === 0) holdings.startOver();
  return { id, version };
}
