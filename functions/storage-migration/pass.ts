// A pass over all objects of the kind, a page at a time. After each page the status says where it
// goes on: a process that is killed leaves one page to do again.
import type { FailedObject, Progress } from '../../shared/api/storage-migration.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeList, KubeObject, ResourceRef } from '../../shared/kube/objects.ts';
import type { ListOptions } from '../../shared/kube/reads.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { clean } from './clean.ts';
import { afterCleaning } from './cleaning.ts';
import { type StatusUpdate, afterPass, inProgress, ownStatus } from './status.ts';
import type { Deps } from './deps.ts';
import { type Migration, NO_PROGRESS } from './migration.ts';
import { OutageWatch } from './outage.ts';
import { Pace, type PaceLimits, inPace } from './pace.ts';
import { refusedSample } from './preflight.ts';
import { type Rewritten, nameOf, rewrite } from './rewrite.ts';
import { lossOf } from './round-trip.ts';
import { hasStaleFields } from './stale-fields.ts';
import type { Target } from './observe.ts';

/** Small until it is known how fast the API server is: a page has to fit into one request. */
const FIRST_PAGE = 25;
/** One page is what is done again after a kill, and what one list answer holds. */
const PAGE_MAX = 500;
/** Pages grow while they take less. */
const PAGE_MS = 2_000;
/** The first ones tell the story. */
const FAILED_SHOWN_MAX = 20;
/** A list that failed for so long is reported in the status, with its cause. */
const LIST_TIMEOUT_MS = 8_000;

/** A page failed after it had changed objects. The next one finds them current: count them now. */
export class PageCut extends Error {
  readonly update: StatusUpdate;

  constructor(update: StatusUpdate, cause: unknown) {
    super('the page was cut', { cause });
    this.update = update;
  }
}

export class Pass {
  readonly #deps: Deps;
  readonly #pace: Pace;
  /** A conversion webhook may go away between a question and its write: that hurts one at most. */
  readonly #oneByOne: Pace;
  readonly #signal: AbortSignal;
  #pageSize: number;
  readonly #pageMax: number;

  constructor(deps: Deps, limits: PaceLimits, signal: AbortSignal) {
    this.#deps = deps;
    this.#pace = new Pace(limits, deps.clock);
    this.#oneByOne = new Pace({ ...limits, concurrency: 1 }, deps.clock);
    this.#signal = signal;
    const inTime = ((limits.requestsPerSecond ?? Infinity) * PAGE_MS) / 1_000;
    this.#pageMax = Math.min(PAGE_MAX, Math.max(1, Math.floor(inTime)));
    this.#pageSize = Math.min(FIRST_PAGE, this.#pageMax);
  }

  /** The next status after one more page, or after as much of it as there is time for. */
  async page(target: Target, migration: Migration, endsAtMs: number): Promise<StatusUpdate> {
    const { clock } = this.#deps;
    const startedMs = clock.nowMs();
    const whole = await this.#read(target, migration);
    if (whole === 'expired') return inProgress(restarted(migration));
    const counted = new Counted();
    const page = await this.#walk(target, whole, migration, { endsAtMs, counted });
    if (page === undefined) return inProgress(doneAgain(migration, counted));
    const nowMs = clock.nowMs();
    if (nowMs - startedMs < PAGE_MS) this.#pageSize = Math.min(2 * this.#pageSize, this.#pageMax);
    const status = statusAfter(nowMs, migration, page, counted);
    if (status.cursor !== undefined) return inProgress(status);
    const nowIso = timestamp(nowMs);
    if (isCleaning(migration)) return afterCleaning(migration, status, nowIso, target.crd);
    return afterPass(status, page.metadata.resourceVersion, nowIso, target.crd);
  }

  /** The part of the page that was done; undefined when it has to be done again. */
  async #walk(
    target: Target,
    whole: Page,
    migration: Migration,
    { endsAtMs, counted }: { readonly endsAtMs: number; readonly counted: Counted },
  ): Promise<KubeList | undefined> {
    try {
      await this.#write(target, whole.list.items, migration, { endsAtMs, counted });
      return await this.#upTo(target, whole, counted.done);
    } catch (error) {
      if (counted.counts.changed === 0) throw error;
      throw new PageCut(inProgress(doneAgain(migration, counted)), error);
    }
  }

  async #read({ ref }: Target, { status: { cursor } }: Migration): Promise<Page | 'expired'> {
    const limit = this.#pageSize;
    if (cursor === undefined) return { list: await this.#list(ref, { limit }), after: undefined };
    const after = cursor.continue;
    try {
      return { list: await this.#list(ref, { limit, continue: after }), after };
    } catch (error) {
      if (!isKubeError(error, 'KUBE_EXPIRED')) throw error;
      // The revision of the first page is compacted. Objects after the cursor are still listed, as
      // they are now; a new object before it was written after that revision, so in the current
      // version.
      const token = error.answer?.continue;
      if (token === undefined) return 'expired';
      return { list: await this.#list(ref, { limit, continue: token }), after: token };
    }
  }

  /**
   * The page as if it had ended after so many objects: where the next one begins only the API
   * server can say. Undefined when it does not know any more, and then the page is done again.
   */
  async #upTo(
    { ref }: Target,
    { list, after }: Page,
    count: number,
  ): Promise<KubeList | undefined> {
    if (count === list.items.length) return list;
    const { resourceVersion } = list.metadata;
    const from =
      after === undefined ? { freshness: { exact: resourceVersion } } : { continue: after };
    try {
      const part = await this.#list(ref, { limit: count, ...from });
      const isSame = part.items.at(-1)?.metadata.uid === list.items[count - 1]?.metadata.uid;
      return isSame ? part : undefined;
    } catch (error) {
      if (isKubeError(error, 'KUBE_EXPIRED')) return undefined;
      throw error;
    }
  }

  #list(ref: ResourceRef, options: ListOptions): Promise<KubeList> {
    const how = { metadataOnly: true, isBounded: true, timeoutMs: LIST_TIMEOUT_MS };
    const bounds = { ...how, signal: this.#signal };
    return this.#deps.kube.list(ref, { ...options, ...bounds });
  }

  async #write(
    target: Target,
    items: readonly KubeObject[],
    migration: Migration,
    { endsAtMs, counted }: { readonly endsAtMs: number; readonly counted: Counted },
  ): Promise<void> {
    // The usual page has nothing to clean, and needs no turn among those who write.
    if (isCleaning(migration) && !items.some((item) => hasStaleFields(target, item))) {
      for (let count = items.length; count > 0; count -= 1) counted.note({ outcome: 'current' });
      return;
    }
    const { kube, clock } = this.#deps;
    const isDelicate = isCleaning(migration) && target.crd?.hasWebhook === true;
    const pace = isDelicate ? this.#oneByOne : this.#pace;
    const signal = this.#signal;
    const { ref, kind } = target;
    const { dryRun, acceptedLoss = [] } = migration.spec;
    const question = { kube, target, acceptedLoss, signal, turn: () => pace.turn(signal) };
    const losses = { lossOf: (object: KubeObject) => lossOf(question, object) };
    const bounds = { pace, dryRun, endsAtMs, signal };
    const task = { kube, clock, target, ref, kind, ...bounds, ...losses };
    const writeOne = isCleaning(migration) ? clean : rewrite;
    const outage = new OutageWatch(
      async () => (await refusedSample({ kube, clock, target, signal }, migration)) !== undefined,
    );
    const isOver = (): boolean => clock.nowMs() > endsAtMs;
    await inPace({ pace, signal, isOver }, items, async (object) => {
      const rewritten = await writeOne(task, object);
      counted.note(rewritten);
      await outage.note(rewritten);
    });
    await outage.ended();
  }
}

const isCleaning = ({ status: { phase } }: Migration): boolean => phase === 'Cleaning';

interface Page {
  readonly list: KubeList;
  /** The token with which it was read; the first page has none. */
  readonly after: string | undefined;
}

/** The API server knows neither the moment nor the place: the pass begins again. */
function restarted({ status }: Migration): StatusUpdate['status'] {
  const { cursor: _cursor, failed: _failed, progress, ...rest } = ownStatus(status);
  // Objects that this pass changed were not in the current version, and a new pass must not forget
  // that.
  return { ...rest, progress: { ...NO_PROGRESS, changed: progress?.changed ?? 0 } };
}

/** The same page once more: what it changed is current then, and yet it was not before. */
function doneAgain(migration: Migration, { counts: { changed } }: Counted): StatusUpdate['status'] {
  const progress = migration.status.progress ?? NO_PROGRESS;
  return {
    ...ownStatus(migration.status),
    progress: { ...progress, changed: progress.changed + changed },
    ...changedSoFar(migration, changed),
  };
}

type Count = 'changed' | 'current' | 'conflicts' | 'gone' | 'failed';

/** The counts of one page. */
class Counted {
  readonly counts: Record<Count, number> = {
    changed: 0,
    current: 0,
    conflicts: 0,
    gone: 0,
    failed: 0,
  };
  readonly failed: FailedObject[] = [];
  done = 0;

  note(rewritten: Rewritten): void {
    this.done += 1;
    this.counts[rewritten.outcome] += 1;
    if (rewritten.outcome === 'failed') this.failed.push(rewritten.failed);
  }
}

function statusAfter(
  nowMs: number,
  migration: Migration,
  { metadata, items }: KubeList,
  counted: Counted,
): StatusUpdate['status'] {
  const { continue: token = '', remainingItemCount = 0, resourceVersion } = metadata;
  const { status } = migration;
  const { cursor: _cursor, failed: before = [], writesEndAt, ...rest } = ownStatus(status);
  const passStartedAt = passBeganAt(status);
  const progress = sumUp(status.progress ?? NO_PROGRESS, counted);
  const total = progress.done + (token === '' ? 0 : remainingItemCount);
  const last = items.at(-1)?.metadata;
  const cursor = { after: last ? nameOf(last) : '', continue: token, resourceVersion };
  const failed = [...before, ...counted.failed].slice(0, FAILED_SHOWN_MAX);
  return {
    ...rest,
    progress: { ...progress, total, ...speedOf(progress.done, total, passStartedAt, nowMs) },
    ...(passStartedAt === undefined ? {} : { passStartedAt }),
    ...changedSoFar(migration, counted.counts.changed),
    // A verifying pass has waited for it.
    ...(writesEndAt === undefined || status.phase === 'Verifying' ? {} : { writesEndAt }),
    ...(token === '' ? {} : { cursor }),
    ...(failed.length === 0 ? {} : { failed }),
  };
}

/** A verifying pass may have waited for writes to end: that time is none of its own. */
function passBeganAt({ phase, passStartedAt, writesEndAt }: Migration['status']) {
  const hasWaited = phase === 'Verifying' && writesEndAt !== undefined;
  if (!hasWaited || passStartedAt === undefined) return passStartedAt;
  return Date.parse(writesEndAt) > Date.parse(passStartedAt) ? writesEndAt : passStartedAt;
}

/** Over all passes; cleaning is counted by itself. */
function changedSoFar(migration: Migration, changed: number) {
  const { rewritten = 0, cleaned = 0 } = migration.status;
  return isCleaning(migration)
    ? { cleaned: cleaned + changed }
    : { rewritten: rewritten + changed };
}

function sumUp(before: Progress, { counts, done }: Counted): Progress {
  return {
    total: before.total,
    done: before.done + done,
    changed: before.changed + counts.changed,
    current: before.current + counts.current,
    conflicts: before.conflicts + counts.conflicts,
    gone: before.gone + counts.gone,
    failed: before.failed + counts.failed,
  };
}

function speedOf(
  done: number,
  total: number,
  startedAt: string | undefined,
  nowMs: number,
): Pick<Progress, 'perSecond' | 'left'> {
  // The time is kept to the second.
  const tookSeconds = Math.max(1, (nowMs - Date.parse(startedAt ?? '')) / 1_000);
  if (!Number.isFinite(tookSeconds) || done === 0) return {};
  const perSecond = Math.max(1, Math.round(done / tookSeconds));
  return { perSecond, left: formatDuration(Math.ceil((total - done) / perSecond)) };
}

/** As Kubernetes writes durations: 45s, 3m20s, 2h5m. */
function formatDuration(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  if (hours > 0) return `${hours}h${minutes}m`;
  return minutes > 0 ? `${minutes}m${seconds % 60}s` : `${seconds}s`;
}
