// The content that a feed ought to show of one scope, from the API server itself: its lists,
// projected as the metadata function does it.
import { type Feed, feedOf, selects, showPlan } from '../../../../functions/metadata/feed.ts';
import { METADATA_FEEDS } from '../../../../shared/api/metadata-feed.ts';
import type { FeedMessage, ObjectMessage } from '../../../../shared/feed/messages.ts';
import { show } from '../../../../shared/feed/projections/show.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { type Scope, countsLedger, ledgerOf } from '../../../../shared/nats/replica/scope.ts';

/** Objects as texts that are equal when a reader sees no difference, by subject. */
export type Picture = ReadonlyMap<string, string>;

const PAGE_SIZE = 500;

/** The feed of this name, wherever it is. */
export async function readFeed(kube: KubeClient, name: string, signal: AbortSignal): Promise<Feed> {
  const { items } = await kube.list(METADATA_FEEDS, { signal });
  const feeds = items.map(feedOf);
  const feed = feeds.find((one) => one.name === name);
  if (feed !== undefined) return feed;
  const names = feeds.map((one) => one.name).join(', ') || 'none';
  throw new Error(`the API server has no MetadataFeed for the feed ${name}; there are: ${names}`);
}

export async function expectedPicture(
  kube: KubeClient,
  feed: Feed,
  scope: Scope,
  signal: AbortSignal,
): Promise<Picture> {
  const isInScope = countsLedger(scope);
  const picture = new Map<string, string>();
  for (const resource of feed.resources) {
    const plan = showPlan(feed, resource, 0);
    for await (const page of kube.pages(resource.ref, { limit: PAGE_SIZE, signal })) {
      const objects = page.items.filter((object) => selects(feed, resource, object));
      for (const { subject, message } of objects.flatMap((one) => show(resource.name, one, plan))) {
        if (isInScope(ledgerOf(scope, subject))) picture.set(subject, visible(message));
      }
    }
  }
  return picture;
}

/** Without what two looks at the same object may differ in. */
export function visible(message: FeedMessage | ObjectMessage): string {
  return JSON.stringify({ ...message, epoch: 0, resourceVersion: '' }, inOrder);
}

/** A replica shares texts and may hold an object's fields in another order. */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
