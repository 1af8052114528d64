// Somebody else's reads of the API server, at a steady rate and in a process of its own: what they
// wait for while a migration goes on is what it costs the others.
import { systemClock } from '../../../shared/clock.ts';
import { openKube } from '../../../shared/kube/client.ts';
import { answerWith } from '../feed/child.ts';

/** `take` ends the reading that `start` began. */
export type ReaderQuestion = 'start' | 'take';

const READS_PER_SECOND = 50;
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' };
const TARGET = { namespace: 'default', name: 'read-me' };

const kube = openKube({
  kubeconfigPath: process.argv[2] ?? '',
  userAgent: 'bench-reader',
  fieldManager: 'bench-reader',
});
await kube.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: TARGET });
let latenciesMs: number[] = [];
let end = new AbortController();
let reading: Promise<void> = Promise.resolve();

/** Counted from when it was due: a read that has to wait for another is not faster for that. */
async function readOnce(dueMs: number): Promise<void> {
  await kube.get(CONFIG_MAPS, TARGET);
  latenciesMs.push(performance.now() - dueMs);
}

async function readUntil(signal: AbortSignal): Promise<void> {
  const underWay = new Set<Promise<void>>();
  for (let dueMs = performance.now(); !signal.aborted; dueMs += 1_000 / READS_PER_SECOND) {
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await systemClock.sleep(waitMs);
    const one = readOnce(dueMs).finally(() => underWay.delete(one));
    underWay.add(one);
  }
  await Promise.all(underWay);
}

answerWith(async ({ ask }: { readonly ask: ReaderQuestion }) => {
  if (ask === 'start') {
    latenciesMs = [];
    end = new AbortController();
    reading = readUntil(end.signal);
    return latenciesMs;
  }
  end.abort();
  await reading;
  return latenciesMs;
});
