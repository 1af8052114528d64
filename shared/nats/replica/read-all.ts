// Reads a part of the stream to its end, filter by filter.
import type { PageReader, StoredMessage } from './page.ts';
import type { Source } from './source.ts';

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
  const taking =
    (note: (sequence: number) => void) =>
    (message: StoredMessage): void => {
      note(message.sequence);
      take(message);
    };
  const ends: number[] = [];
  const readers: PageReader[] = [];
  for (const [index, filter] of filters.entries()) {
    const reader = await source.read(filter, fromSequence, signal);
    readers.push(reader);
    ends.push(0);
    const note = (sequence: number): void => {
      ends[index] = Math.max(ends[index] ?? 0, sequence);
    };
    let left = reader.pending;
    while (left > 0) {
      onLeft(left);
      left = await reader.next(taking(note));
    }
  }
  // While the later ones were read, the earlier ones went on: each is looked at once more, so that
  // all are whole up to the newest message of any.
  for (const [index, reader] of readers.slice(0, -1).entries()) {
    // A reader that waited for long has ended by itself.
    await rest(reader, take).catch(async () => {
      const end = ends[index] ?? 0;
      const again = await source.read(
        filters[index] ?? '',
        end > 0 ? end + 1 : fromSequence,
        signal,
      );
      if (again.pending > 0) await rest(again, take);
    });
  }
  return Math.max(0, ...ends);
}

async function rest(reader: PageReader, take: ReadOptions['take']): Promise<void> {
  while ((await reader.next(take)) > 0);
}
