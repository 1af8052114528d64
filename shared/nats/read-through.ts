// Reads a stream up to its end while others write to it, so that what was read is the stream as it
// was at one version, and not a mixture of times.
import type { Clock } from '../clock.ts';
import type { StoredMessage } from './jetstream.ts';
import type { Stream } from './stream.ts';

/** A server of a cluster applies within milliseconds what another one has acknowledged. */
const BEHIND_PAUSE_MS = 50;
const BEHIND_READS_MAX = 20;

/**
 * Takes all that is stored, oldest first, and then what comes meanwhile, until nothing is left. A
 * message that replaces one that was taken is taken too: in the end the newest of each subject is
 * the stream as of the version that is answered. Undefined when a server that answers stays behind
 * another one that did: then it is the stream of no version.
 */
export async function readThrough(
  stream: Pick<Stream, 'batch' | 'state' | 'settings'>,
  filter: string,
  take: (message: StoredMessage) => void,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<number | undefined> {
  let version = 0;
  let reads = 0;
  // No server that has answered so far was ahead of it.
  let { lastSequence: reach } = await stream.state(signal);
  for (;;) {
    const { messages, pending } = await stream.batch(filter, version + 1, signal);
    for (const message of messages) take(message);
    version = messages.at(-1)?.sequence ?? version;
    if (pending === 0 && version >= reach) return version;
    if (messages.length > 0) {
      ({ lastSequence: reach } = await stream.state(signal));
      continue;
    }
    // The message stored last is gone again, and there is no other server.
    if (stream.settings.replicas === 1) return reach;
    reads += 1;
    if (reads === BEHIND_READS_MAX) return undefined;
    await clock.sleep(BEHIND_PAUSE_MS, signal);
  }
}
