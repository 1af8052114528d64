// Lays a snapshot out as the lines of the live view. Pure, so that what a person sees can be
// tested.
import { type FeedView, sweptText } from './feed-view.ts';
import type { Counted } from './rates.ts';
import {
  type PartView,
  type Snapshot,
  type TriggerView,
  countReady,
  totalBytes,
} from './snapshot.ts';
import { formatDuration, formatBytes, formatRate } from './format.ts';

export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

/** The functions' answers shall be seen on a terminal of 24 rows too. */
const EVENT_ROWS_MAX = 6;
const INDENT = '  ';
const GAP = '  ';

/** Never wider or higher than the terminal, because only then can it be painted over. */
export function frame(snapshot: Snapshot, { columns, rows }: FrameSize): readonly string[] {
  const { parts, feeds, events, triggers, answers } = snapshot;
  const lines = [
    headline(snapshot),
    '',
    ...table(['PART', 'STATE', 'PID', 'FOR', 'MEMORY', 'DEATHS'], parts.map(partRow)),
    '',
    ...table(
      ['FEED', 'STATE', 'VERSION', 'RATE', 'EPOCH', 'OBJECTS', 'READERS', 'SWEPT', 'HEALED'],
      feeds.map(feedRow),
    ),
    '',
    ...table(['EVENTS IN', 'TOTAL', 'RATE'], eventRows(events)),
    '',
    ...table(['ANSWERS OF', 'OUTCOME', 'TOTAL', 'RATE'], answerRows(answers)),
    '',
    ...table(
      ['TRIGGER', 'DELIVERED', 'RATE', 'PENDING', 'RETRIES', 'FAILED'],
      triggers.map(triggerRow),
    ),
  ];
  const shown =
    lines.length <= rows
      ? lines
      : [...lines.slice(0, rows - 1), '… (a higher terminal shows more)'];
  return shown.map((line) => line.slice(0, columns));
}

function headline({ upMs, parts }: Snapshot): string {
  const ready = `${countReady(parts)} of ${parts.length} parts ready`;
  const size = formatBytes(totalBytes(parts));
  return `Ballast, up ${formatDuration(upMs)}: ${ready}, ${size} (Ctrl-C ends everything)`;
}

function partRow(part: PartView): readonly string[] {
  const { name, state, pid, inStateMs, residentBytes, deaths } = part;
  return [
    name,
    state,
    pid === undefined ? '-' : String(pid),
    formatDuration(inStateMs),
    residentBytes === undefined ? '-' : formatBytes(residentBytes),
    deaths === 0 ? '' : String(deaths),
  ];
}

function eventRows(events: Snapshot['events']): readonly (readonly string[])[] {
  if (events.size === 0) return [['none yet']];
  const shown = byTotal(events).slice(0, EVENT_ROWS_MAX);
  const rest = events.size - shown.length;
  return [
    ...shown.map(([type, counted]) => [type, ...numbers(counted)]),
    ...(rest > 0 ? [[`and ${rest} more`]] : []),
  ];
}

function feedRow(feed: FeedView): readonly string[] {
  const { name, state, version, epoch, objects, readers, healed } = feed;
  return [
    name,
    state,
    ...numbers(version),
    String(epoch),
    String(objects),
    String(readers),
    sweptText(feed),
    String(healed),
  ];
}

function triggerRow({ name, delivered, pending, retries, failed }: TriggerView): readonly string[] {
  return [name, ...numbers(delivered), String(pending), String(retries), String(failed)];
}

function answerRows(answers: Snapshot['answers']): readonly (readonly string[])[] {
  return [...answers].flatMap(([name, outcomes]) =>
    outcomes.size === 0
      ? [[name, 'none yet']]
      : byTotal(outcomes).map(([outcome, counted], index) => [
          index === 0 ? name : '',
          outcome,
          ...numbers(counted),
        ]),
  );
}

const numbers = ({ total, perSecond }: Counted): readonly string[] => [
  String(total),
  formatRate(perSecond),
];

export function byTotal(counted: ReadonlyMap<string, Counted>): readonly [string, Counted][] {
  return [...counted].toSorted(([, one], [, other]) => other.total - one.total);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) => {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    return `${INDENT}${cells.join(GAP)}`.trimEnd();
  });
}
