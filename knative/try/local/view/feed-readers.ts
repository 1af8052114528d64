// Readers of a feed: the connections of a NATS server that subscribe to its live messages.
import { livePrefix } from '../../../../shared/feed/subjects.ts';

interface Connections {
  readonly connections?: readonly { readonly subscriptions_list?: readonly string[] }[];
}

/** Beyond it the count is a lower bound; here nobody has as many. */
const CONNECTIONS_MAX = 10_000;

/** By feed; undefined when the server does not answer. */
export async function countReaders(
  monitorUrl: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number> | undefined> {
  try {
    const url = `${monitorUrl}/connz?subs=1&limit=${CONNECTIONS_MAX}`;
    const response = await fetch(url, { signal });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- NATS documents this shape
    return readersIn((await response.json()) as Connections);
  } catch {
    return undefined;
  }
}

export function readersIn({ connections = [] }: Connections): ReadonlyMap<string, number> {
  const readers = new Map<string, number>();
  for (const { subscriptions_list: subjects = [] } of connections) {
    const feeds = new Set(subjects.flatMap((subject) => feedOf(subject) ?? []));
    for (const feed of feeds) readers.set(feed, (readers.get(feed) ?? 0) + 1);
  }
  return readers;
}

const LIVE = livePrefix('');

function feedOf(subject: string): string | undefined {
  return subject.startsWith(LIVE) ? subject.slice(LIVE.length).split('.')[0] : undefined;
}
