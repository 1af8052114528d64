// P4: an agent that holds 10,000 pods and missed 1,000 changes of them comes back, as a process
// that has just started. Ours takes up its bookmark and reads what it missed; the peer lists all
// of them again, in pages, as a client does whose resourceVersion is forgotten. Stated only: the
// peer when it asks for gzip, as Go's informers do.
import { systemClock } from '../../shared/clock.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openReplica, type Replica } from '../../shared/nats/replica/library.ts';
import { writtenBytes } from './feed/accounts.ts';
import type { CatchUpQuestion, CaughtUp } from './feed/catch-up.ts';
import { Child } from './feed/child.ts';
import type { WriterChild } from './feed/churn.ts';
import { FEED } from './feed/names.ts';
import { FeedSystem } from './feed/system.ts';
import type { Bench, Figure, Sample } from './runner.ts';

const OURS = 'replica, bookmark';
const PEER = 'relist';
const GZIPPED = 'relist, gzip';
const PODS = 10_000;
const NODES = 500;
const MISSED = 1_000;
const MISSED_PER_SECOND = 150;
const POLL_MS = 50;

const lower = { ours: OURS, better: 'lower' } as const;
const time = { name: 'ms', unit: 'ms' } as const;
const bytes = { name: 'kilobytes', unit: 'KB sent by the server' } as const;
const stated = (figure: Pick<Figure, 'name' | 'unit'>, against: string): Figure => ({
  ...figure,
  ...lower,
  name: `${figure.name} against ${against}`,
  sample: figure.name,
  against,
  limit: Infinity,
});

export const bench: Bench = {
  id: 'P4',
  title: 'catch-up of 1,000 missed changes among 10,000 pods, in a cold process',
  pairs: 5,
  figures: [
    { ...time, ...lower, against: PEER, limit: 0.1 },
    { ...bytes, ...lower, against: PEER, limit: 0.03 },
    // A replica that was only cut off takes up no bookmark.
    { ...stated({ ...time, name: 'afterRestoringMs' }, PEER), name: 'ms after the bookmark' },
    stated(time, GZIPPED),
    stated(bytes, GZIPPED),
  ],
  open: () =>
    FeedSystem.prepare(async (system) => {
      await system.fill(PODS, NODES);
      const bookmarkPath = join(system.plane.dir, 'bookmark.json');
      await missChanges(system, bookmarkPath);
      const { kubeconfigPath } = system.plane;
      const { nats, apiServer } = system;
      const resume = { resume: { url: system.readerUrl, bookmarkPath } };
      const relist = (isGzipped: boolean) => ({ relist: { kubeconfigPath, isGzipped } });
      return {
        sides: [
          { name: OURS, run: () => measure(nats.pid, resume) },
          { name: PEER, run: () => measure(apiServer.pid, relist(false)) },
          { name: GZIPPED, run: () => measure(apiServer.pid, relist(true)) },
        ],
        close: () => system.stop(),
      };
    }),
};

/** Stores the bookmark of a replica, and then changes a thousand pods. */
async function missChanges(system: FeedSystem, bookmarkPath: string): Promise<void> {
  const replica = openReplica({ url: system.readerUrl, feed: FEED, scope: 'cluster' });
  const writer: WriterChild = await Child.start('writer.ts', system.plane.kubeconfigPath);
  try {
    await replica.whenCurrent();
    await writeFile(bookmarkPath, JSON.stringify(replica.bookmark()));
    const versionBefore = replica.state.version;
    await writer.ask({ pods: PODS, changes: MISSED, perSecond: MISSED_PER_SECOND });
    while (changedSince(replica, versionBefore) < MISSED) await systemClock.sleep(POLL_MS);
  } finally {
    await Promise.all([writer.end(), replica.close()]);
  }
}

const changedSince = ({ catalog }: Replica, version: number): number =>
  [...catalog.entries()].filter((entry) => entry.version > version).length;

async function measure(server: number | undefined, question: CatchUpQuestion): Promise<Sample> {
  const child = await Child.start<CatchUpQuestion, CaughtUp>('catch-up.ts');
  try {
    const before = await writtenBytes(server);
    const { ms, restoredMs, objects, resumes } = await child.ask(question);
    const sent = (await writtenBytes(server)) - before;
    if (objects < PODS) throw new Error(`Of ${PODS} pods only ${objects} were caught up with.`);
    if ('resume' in question && resumes !== 1) throw new Error('It read a snapshot instead.');
    return { ms, afterRestoringMs: ms - restoredMs, kilobytes: sent / 1_000 };
  } finally {
    await child.end();
  }
}
