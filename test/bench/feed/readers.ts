// Readers of the feed, many in one process, each with a connection to NATS of its own, as each
// agent would have one.
import { openReplica, type Replica } from '../../../shared/nats/replica/library.ts';
import { Arrivals, nowMs } from './arrivals.ts';
import { answerWith } from './child.ts';
import { FEED } from './names.ts';

export type ReaderQuestion =
  /** One reader for each name: of that node, or of the cluster for `*`. Answers when current. */
  | { readonly open: readonly string[] }
  /** Answers what was seen since the last time. */
  | { readonly take: true }
  | { readonly close: true };

const [url = '', timed = ''] = process.argv.slice(2);
const arrivals = new Arrivals(timed === 'timed');
const replicas: Replica[] = [];

async function read(replica: Replica): Promise<void> {
  for await (const change of replica.changes()) {
    if (change.type === 'changed') arrivals.note(change.entry.object.labels);
  }
}

async function open(nodes: readonly string[]): Promise<number> {
  const beganMs = nowMs();
  const opened = nodes.map((node) => {
    const scope = node === '*' ? 'cluster' : ({ node } as const);
    return openReplica({ url, feed: FEED, scope });
  });
  replicas.push(...opened);
  await Promise.all(opened.map((replica) => replica.whenCurrent()));
  const tookMs = nowMs() - beganMs;
  for (const replica of opened) void read(replica);
  return tookMs;
}

answerWith(async (question: ReaderQuestion) => {
  if ('open' in question) return open(question.open);
  if ('take' in question) return arrivals.take();
  await Promise.all(replicas.splice(0).map((replica) => replica.close()));
  return 0;
});
