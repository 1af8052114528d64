// A pass over all objects of the kind, a page at a time. After each page the status says where it
// goes on: a process that is killed leaves one page to do again.
import type { FailedObject, Progress } from '../../shared/api/storage-migration.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeList, KubeObject } from '../../shared/kube/objects.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { type Saying, afterPass, onTheWay, saidBy } from './sayings.ts';
import type { Doors } from './doors.ts';
import { formatDuration } from './duration.ts';
import { type Migration, NO_PROGRESS } from './migration.ts';
import { Pace, type PaceLimits, inPace } from './pace.ts';
import { type Rewritten, rewrite } from './rewrite.ts';
import type { Target } from './target.ts';

/** Small until it is known how fast the API server is: a page has to fit into one request. */
const FIRST_PAGE = 25;
/** One page is what is done again after a kill, and what one list answer holds. */
const PAGE_MAX = 500;
/** Pages grow while they take less. */
const PAGE_MS = 2_000;
/** The first ones tell the story. */
const FAILED_SHOWN_MAX = 20;
/** So many objects one after the other, none of them written: it is not the objects. */
const FAILURES_IN_A_ROW_MAX = 5;

export class Walker {
  readonly #doors: Doors;
  readonly #pace: Pace;
  readonly #signal: AbortSignal;
  #pageSize: number;
  readonly #pageMax: number;

  constructor(doors: Doors, limits: PaceLimits, signal: AbortSignal) {
    this.#doors = doors;
    this.#pace = new Pace(limits, doors.clock);
    this.#signal = signal;
    const inTime = ((limits.requestsPerSecond ?? Infinity) * PAGE_MS) / 1_000;
    this.#pageMax = Math.min(PAGE_MAX, Math.max(1, Math.floor(inTime)));
    this.#pageSize = Math.min(FIRST_PAGE, this.#pageMax);
  }

  /** What to say after the next page. */
  async page(target: Target, migration: Migration): Promise<Saying> {
    const { clock } = this.#doors;
    const startedMs = clock.nowMs();
    const page = await this.#read(target, migration);
    if (page === 'expired') return onTheWay(restarted(migration));
    const counted = await this.#rewrite(target, page.items, migration);
    const nowMs = clock.nowMs();
    if (nowMs - startedMs < PAGE_MS) this.#pageSize = Math.min(2 * this.#pageSize, this.#pageMax);
    const status = statusAfter(nowMs, migration, page, counted);
    if (status.cursor !== undefined) return onTheWay(status);
    return afterPass(status, page.metadata.resourceVersion, timestamp(nowMs), target.crd);
  }

  async #read({ ref }: Target, { status: { cursor } }: Migration): Promise<KubeList | 'expired'> {
    const { kube } = this.#doors;
    const options = { limit: this.#pageSize, metadataOnly: true, signal: this.#signal };
    if (cursor === undefined) return kube.list(ref, options);
    try {
      return await kube.list(ref, { ...options, continue: cursor.continue });
    } catch (error) {
      if (!isKubeError(error, 'KUBE_EXPIRED')) throw error;
      // The moment of the first page is forgotten. What comes after the cursor is there all the
      // same, as it is now; what is new before it was written after that moment.
      const token = error.answer?.continue;
      return token === undefined ? 'expired' : kube.list(ref, { ...options, continue: token });
    }
  }

  async #rewrite(
    { ref, kind }: Target,
    items: readonly KubeObject[],
    { spec }: Migration,
  ): Promise<Counted> {
    const counted = new Counted(items.length);
    const { kube, clock } = this.#doors;
    const [pace, signal] = [this.#pace, this.#signal];
    const task = { kube, clock, ref, kind, pace, dryRun: spec.dryRun, signal };
    await inPace(pace, items, signal, async (object) => counted.note(await rewrite(task, object)));
    return counted;
  }
}

/** The API server knows neither the moment nor the place: the pass begins again. */
function restarted({ status }: Migration): Saying['status'] {
  const { cursor: _cursor, failed: _failed, ...rest } = saidBy(status);
  return { ...rest, progress: NO_PROGRESS };
}

type Count = 'changed' | 'current' | 'conflicts' | 'gone' | 'failed';

/** What came of one page. */
class Counted {
  readonly counts: Record<Count, number> = {
    changed: 0,
    current: 0,
    conflicts: 0,
    gone: 0,
    failed: 0,
  };
  readonly failed: FailedObject[] = [];
  readonly done: number;
  #inARow = 0;

  constructor(done: number) {
    this.done = done;
  }

  note(rewritten: Rewritten): void {
    this.counts[rewritten.outcome] += 1;
    if (rewritten.outcome !== 'failed') {
      this.#inARow = 0;
      return;
    }
    this.failed.push(rewritten.failed);
    if (rewritten.cause === undefined) return;
    this.#inARow += 1;
    if (this.#inARow === FAILURES_IN_A_ROW_MAX) throw rewritten.cause;
  }
}

function statusAfter(
  nowMs: number,
  { status }: Migration,
  { metadata, items }: KubeList,
  counted: Counted,
): Saying['status'] {
  const { continue: token = '', remainingItemCount = 0, resourceVersion } = metadata;
  const { cursor: _cursor, failed: before = [], ...rest } = saidBy(status);
  const progress = sumUp(status.progress ?? NO_PROGRESS, counted);
  const total = progress.done + (token === '' ? 0 : remainingItemCount);
  const cursor = { after: nameOf(items.at(-1)), continue: token, resourceVersion };
  const failed = [...before, ...counted.failed].slice(0, FAILED_SHOWN_MAX);
  return {
    ...rest,
    progress: { ...progress, total, ...speedOf(progress.done, total, status.passStartedAt, nowMs) },
    rewritten: (status.rewritten ?? 0) + counted.counts.changed,
    ...(token === '' ? {} : { cursor }),
    ...(failed.length === 0 ? {} : { failed }),
  };
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

const nameOf = (object: KubeObject | undefined): string =>
  [object?.metadata.namespace, object?.metadata.name]
    .filter((part) => part !== undefined)
    .join('/');
