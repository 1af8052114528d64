// Reads a part of the stream to its end, filter by filter.
import type { Source, StoredMessage } from './source.ts';

export interface ReadOptions {
  readonly filters: readonly string[];
  /** Undefined for the newest message of each subject. */
  readonly fromSequence: number | undefined;
  readonly take: (message: StoredMessage) => void;
  readonly onLeft: (messages: number) => void;
}

/** Answers a sequence up to which every message of every filter has been taken; 0 for none. */
export async function readAll(
  source: Pick<Source, 'read'>,
  { filters, fromSequence, take, onLeft }: ReadOptions,
  signal: AbortSignal,
): Promise<number> {
  const readOne = async (filter: string, from: number | undefined): Promise<number> => {
    let newest = 0;
    const reader = await source.read(filter, from, signal);
    let left = reader.pending;
    while (left > 0) {
      onLeft(left);
      left = await reader.next((message) => {
        newest = Math.max(newest, message.sequence);
        take(message);
      });
    }
    return newest;
  };
  const ends = new Map<string, number>();
  for (const filter of filters) ends.set(filter, await readOne(filter, fromSequence));
  // While the later ones were read, the earlier ones went on: each is looked at once more, so that
  // all are whole up to the newest message of any.
  for (const filter of filters.slice(0, -1)) {
    const end = ends.get(filter) ?? 0;
    await readOne(filter, end === 0 ? fromSequence : end + 1);
  }
  return Math.max(0, ...ends.values());
}
