// The removal of a backup as a command: one line of JSON says what came of it, small enough for the
// termination message of a pod.
import { ASKED_WRONGLY, UsageError } from '../../../shared/arguments.ts';
import { printable } from '../../../shared/function/printable.ts';
import { openBucket } from '../../../shared/s3/bucket.ts';
import {
  type Failed,
  failedBy,
  keepLine,
  lineOf,
  type Terminal,
} from '../../../shared/jobs/program.ts';
import { CALLED_AS } from '../called-as.ts';
import { FileStore } from './file-store.ts';
import { type RemovalOptions, removalOptions, removalUsageOf } from './options.ts';
import { remove } from './remove.ts';
import { S3Store } from './s3-store.ts';

const FAILED = 1;

export async function runRemoval(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
  calledAs = CALLED_AS,
): Promise<number> {
  let options: RemovalOptions | undefined;
  try {
    options = removalOptions(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.err(`${printable(error.message)}\n\n${removalUsageOf(calledAs)}`);
    return ASKED_WRONGLY;
  }
  if (options === undefined) {
    terminal.out(removalUsageOf(calledAs));
    return 0;
  }
  const { result, sentence } = await outcomeOf(options, signal);
  const line = lineOf(result);
  terminal.out(line);
  terminal.err(`${printable(sentence)}\n`);
  await keepLine(options.resultPath, line, terminal);
  return result.outcome === 'done' ? 0 : FAILED;
}

interface Outcome {
  readonly result: Failed | { readonly outcome: 'done'; readonly removed: string };
  readonly sentence: string;
}

async function outcomeOf({ from, known }: RemovalOptions, signal: AbortSignal): Promise<Outcome> {
  try {
    const { name, wasThere } = await removeFrom(from, known, signal);
    const sentence = `${name} ${wasThere ? 'is removed' : 'was gone already'}.`;
    return { result: { outcome: 'done', removed: name }, sentence };
  } catch (error) {
    const result = failedBy(signal.aborted ? signal.reason : error);
    return { result, sentence: result.error.message };
  }
}

async function removeFrom(
  from: RemovalOptions['from'],
  known: RemovalOptions['known'],
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly wasThere: boolean }> {
  if ('path' in from) {
    const { path: name } = from;
    return { name, wasThere: await remove(new FileStore(name), known, signal) };
  }
  const { place, settings } = from.address;
  const bucket = openBucket(place.bucket, settings);
  try {
    const store = new S3Store(bucket, place);
    return { name: store.name, wasThere: await remove(store, known, signal) };
  } finally {
    await bucket.close();
  }
}
