// The output of the views, for terminals and for pipes.
import { describe, expect, test } from 'vitest';
import type { Part, PartChange, PartState } from '../../../knative/try/local/process/part.ts';
import { frame } from '../../../knative/try/local/view/frame.ts';
import { PlainView } from '../../../knative/try/local/view/plain-view.ts';
import type { Snapshot } from '../../../knative/try/local/view/snapshot.ts';
import { formatDuration, formatBytes, formatRate } from '../../../knative/try/local/view/format.ts';
import { TerminalView } from '../../../knative/try/local/view/terminal-view.ts';

const snapshot = (upMs = 65_000): Snapshot => ({
  upMs,
  parts: [
    {
      name: 'etcd',
      state: 'ready',
      pid: 41,
      inStateMs: 64_000,
      residentBytes: 40 * 2 ** 20,
      deaths: 0,
    },
    {
      name: 'kwok',
      state: 'dead',
      pid: undefined,
      inStateMs: 500,
      residentBytes: undefined,
      deaths: 2,
    },
  ],
  events: new Map([
    ['dev.knative.apiserver.ref.add', { total: 5, perSecond: 0 }],
    ['dev.knative.apiserver.ref.update', { total: 900, perSecond: 12.6 }],
  ]),
  triggers: [
    {
      name: 'ballast-system/metadata-changes',
      delivered: { total: 905, perSecond: 12.6 },
      pending: 3,
      retries: 5,
      failed: 1,
    },
  ],
  feeds: [
    {
      name: 'cluster',
      epoch: 1,
      version: { total: 1234, perSecond: 6.1 },
      objects: 320,
      readers: 2,
      sweptMsAgo: 12_000,
      healed: 3,
      unfounded: 0,
      state: 'in sync',
    },
  ],
  answers: new Map([
    [
      'metadata',
      new Map([
        ['done', { total: 900, perSecond: 12.6 }],
        ['retry', { total: 5, perSecond: 0.25 }],
      ]),
    ],
    ['locate', new Map()],
  ]),
});

function change(state: PartState, lines: readonly string[] = [], ending?: string): PartChange {
  const never = (): Promise<void> => Promise.reject(new Error('only shown'));
  const part: Part = {
    name: 'etcd',
    url: '',
    pid: state === 'dead' ? undefined : 41,
    state,
    sinceMs: 0,
    lastLines: (count) => lines.slice(-count),
    start: never,
    stop: never,
    kill: never,
    restart: never,
    pause: never,
    resume: () => undefined,
  };
  return { part, state, ...(ending === undefined ? {} : { ending }) };
}

describe('a frame', () => {
  test('shows parts, events in and the functions’ answers', () => {
    expect(frame(snapshot(), { columns: 100, rows: 40 })).toEqual([
      'Ballast, up 1m05s: 1 of 2 parts ready, 40 MiB (Ctrl-C ends everything)',
      '',
      '  PART  STATE  PID  FOR    MEMORY  DEATHS',
      '  etcd  ready  41   1m04s  40 MiB',
      '  kwok  dead   -    0s     -       2',
      '',
      '  FEED     STATE    VERSION  RATE   EPOCH  OBJECTS  READERS  SWEPT    HEALED',
      '  cluster  in sync  1234     6.1/s  1      320      2        12s ago  3',
      '',
      '  EVENTS IN                         TOTAL  RATE',
      '  dev.knative.apiserver.ref.update  900    13/s',
      '  dev.knative.apiserver.ref.add     5      0.0/s',
      '',
      '  ANSWERS OF  OUTCOME   TOTAL  RATE',
      '  metadata    done      900    13/s',
      '              retry     5      0.3/s',
      '  locate      none yet',
      '',
      '  TRIGGER                          DELIVERED  RATE  PENDING  RETRIES  FAILED',
      '  ballast-system/metadata-changes  905        13/s  3        5        1',
    ]);
  });

  test('shows the most frequent events when there are many types', () => {
    const types = Array.from({ length: 9 }, (_, index) => `type-${index}`);
    const events = new Map(types.map((type, total) => [type, { total, perSecond: 0 }]));
    const lines = frame({ ...snapshot(), events }, { columns: 80, rows: 40 });
    const shown = lines.slice(9, 17).map((line) => line.trim().split('  ')[0]);
    const most = ['type-8', 'type-7', 'type-6', 'type-5', 'type-4', 'type-3'];
    expect(shown).toEqual(['EVENTS IN', ...most, 'and 3 more']);
  });

  test('is never wider or higher than the terminal', () => {
    const lines = frame(snapshot(), { columns: 20, rows: 5 });
    expect(lines).toHaveLength(5);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(20);
    expect(lines.at(-1)).toContain('a higher terminal');
  });
});

/**
 * Enough of a terminal to know what a person sees: text, line ends, up, clear below, clear screen.
 */
class Screen {
  columns = 60;
  rows = 12;
  readonly lines: string[] = [''];
  #row = 0;
  #onResize: (() => void) | undefined;

  write(text: string): void {
    const marked = text.replaceAll('\u001B[', '‹');
    for (const token of marked.match(/‹\d*[A-Z]|\r|\n|[^‹\r\n]+/g) ?? []) this.#take(token);
  }
  on(_: 'resize', listener: () => void): void {
    this.#onResize = listener;
  }
  off(): void {
    this.#onResize = undefined;
  }
  resize(columns: number): void {
    this.columns = columns;
    this.#onResize?.();
  }

  #take(token: string): void {
    if (token === '\n') {
      this.#row += 1;
      this.lines[this.#row] ??= '';
    } else if (token.endsWith('A')) {
      this.#row -= Number(/\d+/.exec(token)?.[0]);
    } else if (token.endsWith('J') && token.includes('2')) {
      this.lines.length = 0;
    } else if (token.endsWith('J')) {
      this.lines.length = this.#row;
      this.lines[this.#row] = '';
    } else if (token.endsWith('H')) {
      this.#row = 0;
      this.lines[0] ??= '';
    } else if (token !== '\r') {
      this.lines[this.#row] += token;
    }
  }
}

describe('on a terminal', () => {
  const shown = (screen: Screen): readonly string[] =>
    frame(snapshot(), {
      columns: screen.columns,
      rows: screen.rows - 1,
    });

  test('each snapshot is painted over the one before', () => {
    const screen = new Screen();
    const view = new TerminalView(screen);
    view.show(snapshot(1_000));
    view.show(snapshot());
    expect(screen.lines).toEqual([...shown(screen), '']);
  });

  test('what is said stays above the newest snapshot', () => {
    const screen = new Screen();
    const view = new TerminalView(screen);
    view.print('first');
    view.show(snapshot());
    view.print('second\nthird');
    view.show(snapshot());
    expect(screen.lines).toEqual(['first', 'second', 'third', ...shown(screen), '']);
  });

  test('a death is told at once with the last lines of the part', () => {
    const screen = new Screen();
    const view = new TerminalView(screen);
    view.show(snapshot());
    view.partChanged(change('dead', ['one', 'two'], 'SIGKILL'));
    const told = ['etcd died (SIGKILL). Its last lines:', '  | one', '  | two'];
    expect(screen.lines.slice(0, 3)).toEqual(told);
  });

  test('another size starts from an empty screen', () => {
    const screen = new Screen();
    const view = new TerminalView(screen);
    view.print('first');
    view.show(snapshot());
    screen.resize(30);
    expect(screen.lines).toEqual([...shown(screen), '']);
  });

  test('after the end the last frame stays and nothing paints over what follows', () => {
    const screen = new Screen();
    const view = new TerminalView(screen);
    view.show(snapshot());
    view.close();
    view.print('the end');
    screen.resize(30);
    expect(screen.lines.slice(-2)).toEqual(['the end', '']);
    expect(screen.lines[0]).toContain('Ballast');
  });
});

describe('as lines', () => {
  const written = (): { view: PlainView; lines: () => readonly string[] } => {
    let text = '';
    const view = new PlainView((more) => {
      text += more;
    });
    return { view, lines: () => text.trimEnd().split('\n') };
  };

  test('a part is told when it is ready, dead, started again and ready again', () => {
    const { view, lines } = written();
    view.partChanged(change('starting'));
    view.partChanged(change('ready'));
    view.partChanged(change('dead', ['no space left'], 'exit code 1'));
    view.partChanged(change('starting'));
    view.partChanged(change('ready'));
    view.partChanged(change('stopped'));
    expect(lines()).toEqual([
      'etcd is ready (pid 41)',
      'etcd died (exit code 1). Its last lines:',
      '  | no space left',
      'etcd is started again',
      'etcd is ready (pid 41)',
    ]);
  });

  test('a part that takes long is told with what it waits for', () => {
    const { view, lines } = written();
    view.partChanged({ ...change('starting'), awaits: '/readyz answers 500: etcd' });
    expect(lines()).toEqual([
      expect.stringMatching(/^etcd is not ready after \d+ s: .readyz answers 500: etcd$/),
    ]);
  });

  test('a part that died silently is said to have been silent', () => {
    const { view, lines } = written();
    view.partChanged(change('dead', [], 'SIGKILL'));
    expect(lines()).toEqual(['etcd died (SIGKILL). It printed nothing.']);
  });

  test('a summary comes every ten seconds, not with every snapshot', () => {
    const { view, lines } = written();
    for (let upMs = 0; upMs <= 20_000; upMs += 1_000) view.show(snapshot(upMs));
    expect(lines()).toHaveLength(3);
    expect(lines()[1]).toBe(
      'up 10s; 1 of 2 parts ready; 40 MiB; ' +
        'feed cluster: in sync, version 1234 (6.1/s), 2 readers, swept 12s ago, healed 3; ' +
        'events in: dev.knative.apiserver.ref.update 900 (13/s), ' +
        'dev.knative.apiserver.ref.add 5 (0.0/s); ' +
        'metadata answered: done 900 (13/s), retry 5 (0.3/s); locate answered: none yet',
    );
  });
});

test.each([
  [999, '0s'],
  [59_999, '59s'],
  [61_000, '1m01s'],
  [3_600_000, '1h00m'],
  [90_061_000, '25h01m'],
])('%i ms are written %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('numbers are short', () => {
  expect(formatRate(9.94)).toBe('9.9/s');
  expect(formatRate(1234.5)).toBe('1235/s');
  expect(formatBytes(1_572_864)).toBe('2 MiB');
});
