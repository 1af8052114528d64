// The progress of a build: in a terminal one line that changes, in a pipe lines with signs of life.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type BuildReporter,
  SIGN_OF_LIFE_MS,
  buildReporter,
  formatElapsed,
} from '../../../knative/try/local/parts/report.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function written(options: { isTTY: boolean; columns?: number }): {
  reporter: BuildReporter;
  text: () => string;
} {
  let text = '';
  const write = (more: string): void => {
    text += more;
  };
  return { reporter: buildReporter({ ...options, write }), text: () => text };
}

describe('on a pipe', () => {
  test('each step gets one line, and each package none', () => {
    const { reporter, text } = written({ isTTY: false });
    reporter.progress({ part: 'etcd', step: 'compiling', detail: '1 of 9 packages' });
    vi.advanceTimersByTime(3000);
    reporter.progress({ part: 'etcd', step: 'compiling', detail: '2 of 9 packages' });
    reporter.progress({ part: 'etcd', step: 'linking' });
    vi.advanceTimersByTime(1000);
    reporter.done();
    expect(text()).toBe(
      'etcd: compiling, 1 of 9 packages (0 s)\netcd: linking (3 s)\netcd: built in 4 s\n',
    );
  });

  test('a long step gives a sign of life with its newest detail', () => {
    const { reporter, text } = written({ isTTY: false });
    reporter.progress({ part: 'etcd', step: 'compiling', detail: '1 of 9 packages' });
    reporter.progress({ part: 'etcd', step: 'compiling', detail: '5 of 9 packages' });
    vi.advanceTimersByTime(2 * SIGN_OF_LIFE_MS);
    const line = (seconds: number): string => `etcd: compiling, 5 of 9 packages (${seconds} s)`;
    expect(text().trimEnd().split('\n').slice(1)).toEqual([line(15), line(30)]);
  });

  test('of several binaries it is told which one, and what is left', () => {
    const { reporter, text } = written({ isTTY: false });
    reporter.plan(['nats-server', 'etcd', 'kwok', 'kubectl']);
    reporter.drop(['nats-server']);
    reporter.progress({ part: 'etcd', step: 'linking' });
    reporter.done();
    expect(text()).toBe(
      'etcd: linking (0 s, binary 2 of 4)\netcd: built in 0 s; 2 of 4 left: kwok, kubectl\n',
    );
  });

  test('nothing is said after the end', () => {
    const { reporter, text } = written({ isTTY: false });
    reporter.progress({ part: 'etcd', step: 'linking' });
    reporter.close();
    const before = text();
    vi.advanceTimersByTime(10 * SIGN_OF_LIFE_MS);
    expect(text()).toBe(before);
  });
});

describe('on a terminal', () => {
  test('one line renews itself while its seconds move, and a line stays for what is done', () => {
    const { reporter, text } = written({ isTTY: true, columns: 80 });
    reporter.progress({ part: 'etcd', step: 'linking' });
    vi.advanceTimersByTime(2000);
    reporter.done();
    const painted = text()
      .split('\r\u001B[K')
      .filter((line) => line !== '');
    expect(painted[0]).toBe('etcd: linking (0 s)');
    expect(painted).toContain('etcd: linking (1 s)');
    expect(painted.at(-1)).toBe('etcd: built in 2 s\n');
    expect(text().split('\n')).toHaveLength(2);
  });

  test('the line never wraps', () => {
    const { reporter, text } = written({ isTTY: true, columns: 20 });
    reporter.progress({ part: 'apiserver_receive_adapter', step: 'linking' });
    reporter.close();
    expect(text()).toBe('\r\u001B[Kapiserver_receive_a\r\u001B[K');
  });

  test('a note stays above the renewing line', () => {
    const { reporter, text } = written({ isTTY: true, columns: 80 });
    reporter.progress({ part: 'etcd', step: 'linking' });
    reporter.note('Something to know.');
    expect(text().endsWith('\r\u001B[KSomething to know.\netcd: linking (0 s)')).toBe(true);
    reporter.close();
  });
});

test.each([
  [0, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min 0 s'],
  [192_500, '3 min 12 s'],
])('%i ms are written %s', (ms, expected) => {
  expect(formatElapsed(ms)).toBe(expected);
});
