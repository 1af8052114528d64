// One catch-up in a cold process, P4's work: ours takes up a stored bookmark and reads what it
// missed; the peer lists everything again. Before the clock starts each loads only what it would
// have loaded anyway: its code, and for ours the bytes of the bookmark.
import { readFile } from 'node:fs/promises';
import { Agent, get } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { systemClock } from '../../../shared/clock.ts';
import { accessReader } from '../../../shared/kube/access.ts';
import type { Bookmark } from '../../../shared/nats/replica/bookmark.ts';
import { openReplica } from '../../../shared/nats/replica/library.ts';
import { nowMs } from './arrivals.ts';
import { answerWith } from './child.ts';
import { FEED } from './names.ts';

export type CatchUpQuestion =
  | { readonly resume: { readonly url: string; readonly bookmarkPath: string } }
  | { readonly relist: { readonly kubeconfigPath: string; readonly isGzipped: boolean } };

export interface CaughtUp {
  readonly ms: number;
  /** The part until a reader could begin to ask: for ours, taking up the bookmark. */
  readonly restoredMs: number;
  readonly objects: number;
  /** How it was done, so that nobody measures something else. */
  readonly resumes: number;
}

const PAGE_SIZE = 500;
const ACCESS_TIMEOUT_MS = 5_000;

interface Page {
  readonly metadata: { readonly continue?: string };
  readonly items: readonly unknown[];
}

async function resume(url: string, path: string): Promise<CaughtUp> {
  const text = await readFile(path, 'utf8');
  const beganMs = nowMs();
  const resumeFrom = JSON.parse(text) as Bookmark;
  const replica = openReplica({ url, feed: FEED, scope: 'cluster', resumeFrom });
  const restoredMs = nowMs() - beganMs;
  await replica.whenCurrent();
  const ms = nowMs() - beganMs;
  const objects = [...replica.catalog.entries()].length;
  const { resumes } = replica.counts;
  await replica.close();
  return { ms, restoredMs, objects, resumes };
}

async function relist(kubeconfigPath: string, isGzipped: boolean): Promise<CaughtUp> {
  const read = accessReader({ kubeconfigPaths: [kubeconfigPath] }, systemClock);
  const access = await read(false, AbortSignal.timeout(ACCESS_TIMEOUT_MS));
  const agent = new Agent({ ...access.tls, keepAlive: true, maxSockets: 1 });
  const headers = { ...access.headers, ...(isGzipped ? { 'accept-encoding': 'gzip' } : {}) };
  const beganMs = nowMs();
  const items: unknown[] = [];
  let from: string | undefined;
  do {
    const query = new URLSearchParams({ limit: String(PAGE_SIZE), continue: from ?? '' });
    const url = `${access.server}/api/v1/pods?${query.toString()}`;
    const page = JSON.parse((await body(url, agent, headers)).toString('utf8')) as Page;
    items.push(...page.items);
    from = page.metadata.continue;
  } while (from !== undefined && from !== '');
  const ms = nowMs() - beganMs;
  agent.destroy();
  return { ms, restoredMs: 0, objects: items.length, resumes: 0 };
}

function body(
  url: string,
  agent: Agent,
  headers: Readonly<Record<string, string>>,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      const isGzipped = response.headers['content-encoding'] === 'gzip';
      const plain = isGzipped ? response.pipe(createGunzip()) : response;
      buffer(plain).then(resolve, reject);
    }).once('error', reject);
  });
}

answerWith(async (question: CatchUpQuestion): Promise<CaughtUp> => {
  if ('resume' in question) return resume(question.resume.url, question.resume.bookmarkPath);
  return relist(question.relist.kubeconfigPath, question.relist.isGzipped);
});
