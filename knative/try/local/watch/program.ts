// The process of the command: arguments, signals and output; the exit code says whether it could be
// done, and whether the feed agrees with the API server.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../../../../shared/arguments.ts';
import { openKube } from '../../../../shared/kube/client.ts';
import { type Replica, openReplica } from '../../../../shared/nats/replica/replica.ts';
import { kubeconfigOfPlane, natsUrlOfPlane } from './address.ts';
import { expectedPicture, readFeed } from './expected.ts';
import { jsonLines, plainLines } from './lines.ts';
import { usageOf, type WatchOptions, watchOptions } from './options.ts';
import { type Verdict, verify } from './verify.ts';
import { type WatchOutput, refuseUnknown, showChanges, showOnce } from './watch.ts';

/** Each look lists what the feed shows: seldom enough for a large cluster. */
const LOOK_EVERY_MS = 1_000;

export async function runAsProgram(
  calledAs: string,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  const usage = usageOf(calledAs);
  try {
    await run(args, usage);
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const text = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${text}\n${isUsage ? `\n${usage}` : ''}`);
    process.exitCode = isUsage ? 2 : 1;
  }
}

async function run(args: readonly string[], usage: string): Promise<void> {
  const options = watchOptions(args);
  if (options === undefined) return void process.stdout.write(usage);
  const { feed, scope, access, apiPrefix, natsUrl, planeDir } = options;
  const url = natsUrl ?? (await natsUrlOfPlane(planeDir));
  const signal = endOfWatch();
  const replica = openReplica({ url, access, feed, scope, apiPrefix, name: 'watch' });
  try {
    if (options.verifyWithinMs !== undefined) return await verifyIt(replica, options, signal);
    const output = outputFor(options);
    await (options.isOnce
      ? showOnce(replica, scope, output, signal)
      : showChanges(replica, output, signal));
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await replica.close();
  }
}

async function verifyIt(
  replica: Replica,
  { feed: name, scope, planeDir, kubeconfigPath, verifyWithinMs = 0, isJson }: WatchOptions,
  signal: AbortSignal,
): Promise<void> {
  const path = kubeconfigPath ?? (await kubeconfigOfPlane(planeDir));
  const kube = openKube({ kubeconfigPath: path, userAgent: 'watch', fieldManager: 'watch' });
  try {
    const feed = await readFeed(kube, name, signal);
    const startedMs = performance.now();
    const verdict = await verify(
      replica,
      {
        expected: () => expectedPicture(kube, feed, scope, signal),
        withinMs: verifyWithinMs,
        pause: () => sleep(LOOK_EVERY_MS, undefined, { signal }),
        progress: (different) =>
          void process.stderr.write(`${different} objects differ so far; looking again\n`),
      },
      signal,
    );
    refuseUnknown(replica, scope);
    tellVerdict(verdict, Math.round((performance.now() - startedMs) / 1_000), isJson);
  } finally {
    await kube.close();
  }
}

function tellVerdict(verdict: Verdict, seconds: number, isJson: boolean): void {
  const { objects, version, differences } = verdict;
  const agrees = differences.length === 0;
  if (!agrees) process.exitCode = 1;
  if (isJson) return void process.stdout.write(`${JSON.stringify({ agrees, ...verdict })}\n`);
  for (const line of differences) process.stdout.write(`${line}\n`);
  const matter = agrees
    ? `Agrees with the API server: ${objects} objects at version ${version}, after`
    : `Differs from the API server in ${differences.length} of ${objects} objects, still after`;
  process.stdout.write(`${matter} ${seconds} s.\n`);
}

/** Somebody ends it, or whoever read its output is gone. */
function endOfWatch(): AbortSignal {
  const end = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => end.abort());
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    end.abort();
  });
  return end.signal;
}

function outputFor({ isJson }: WatchOptions): WatchOutput {
  return {
    lines: isJson ? jsonLines : plainLines,
    async write(line) {
      if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
    },
    note: (line) => void process.stderr.write(`${line}\n`),
  };
}
