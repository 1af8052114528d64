// One feed as the live view shows it. Pure.
import type { MetadataFeedStatus } from '../../../../shared/api/metadata-feed.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import type { Counted } from './rates.ts';
import { formatDuration, formatRate } from './format.ts';

export interface FeedView {
  readonly name: string;
  readonly epoch: number;
  readonly version: Counted;
  readonly objects: number;
  readonly readers: number;
  readonly sweptMsAgo: number | undefined;
  readonly healed: number;
  readonly unfounded: number;
  /** The feed's Ready and InSync conditions in one word. */
  readonly state: string;
}

export function feedViewOf(
  { metadata: { name }, status }: KubeObject,
  version: Counted | undefined,
  readers: ReadonlyMap<string, number>,
  nowMs: number,
): FeedView {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- held to its schema
  const said = (status ?? {}) as MetadataFeedStatus;
  const { epoch = 0, resources = [], events, sweptAt } = said;
  return {
    name,
    epoch,
    version: version ?? { total: said.version ?? 0, perSecond: 0 },
    objects: resources.reduce((sum, { objects }) => sum + objects, 0),
    readers: readers.get(name) ?? 0,
    sweptMsAgo: sweptAt === undefined ? undefined : Math.max(0, nowMs - Date.parse(sweptAt)),
    healed: events?.healed ?? 0,
    unfounded: events?.unfounded ?? 0,
    state: stateOf(said),
  };
}

function stateOf({ conditions = [] }: MetadataFeedStatus): string {
  const reasonOf = (type: string): string | undefined => {
    const found = conditions.find((one) => one.type === type);
    if (found === undefined) return 'Starting';
    return found.status === 'True' ? undefined : found.reason;
  };
  return reasonOf('Ready') ?? reasonOf('InSync') ?? 'in sync';
}

export const sweptText = ({ sweptMsAgo }: FeedView): string =>
  sweptMsAgo === undefined ? 'never' : `${formatDuration(sweptMsAgo)} ago`;

/** For logs: all of it in one clause. */
export function feedClause(feed: FeedView): string {
  const { name, version, readers, healed, unfounded, state } = feed;
  const claims = unfounded === 0 ? '' : ` (${unfounded} claims without ground)`;
  const numbers = `version ${version.total} (${formatRate(version.perSecond)}), ${readers} readers`;
  return `feed ${name}: ${state}, ${numbers}, swept ${sweptText(feed)}, healed ${healed}${claims}`;
}
