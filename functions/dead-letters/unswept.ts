// Feeds that nobody swept for two periods: whatever they say of being Ready is of a time when
// somebody looked, so it becomes Unknown. Pure. Only what says True is touched, so that nobody
// fights about it: `metadata` takes its status back with its next sweep.
import type { MetadataFeedStatus } from '../../shared/api/metadata-feed.ts';
import { type ConditionInput, NOT_SWEPT } from '../../shared/kube/conditions.ts';
import { isRecord } from '../../shared/kube/json.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';

const PERIODS_MAX = 2;
/** A sweep takes up to this long, and ticks and clocks differ by some seconds. */
const SLACK_MS = 60_000;
/** What claims that all is well. */
const CLAIMS: readonly string[] = ['Ready', 'InSync'];

/** The conditions that have to change; none when all is as it should be. */
export function unswept(feed: KubeObject, nowMs: number): readonly ConditionInput[] {
  const { sweptAt, conditions = [] } = statusOf(feed);
  const sinceMs = Date.parse(sweptAt ?? feed.metadata.creationTimestamp ?? '');
  const periodMs = sweepSecondsOf(feed) * 1_000;
  if (!(nowMs - sinceMs > PERIODS_MAX * periodMs + SLACK_MS)) return [];
  const since = sweptAt === undefined ? 'since it was made' : `since ${sweptAt}`;
  const message =
    `Nobody has compared this feed with the API server ${since}, though it is due every ` +
    `${periodMs / 1_000} s. Readers go on with what they have. Look at the function metadata: ` +
    'its pods, its log, and the PingSource metadata-sweep.';
  return conditions
    .filter(({ type, status }) => CLAIMS.includes(type) && status === 'True')
    .map(({ type }) => ({ type, status: 'Unknown', reason: NOT_SWEPT, message }));
}

/** As the API server stores it. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- held to its schema
const statusOf = ({ status = {} }: KubeObject): MetadataFeedStatus => status as MetadataFeedStatus;

const SWEEP_SECONDS = 60;

function sweepSecondsOf({ spec }: KubeObject): number {
  const seconds = isRecord(spec) ? spec['sweepSeconds'] : undefined;
  return typeof seconds === 'number' ? seconds : SWEEP_SECONDS;
}
