// Many errors of one cause are told once, with their number.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Complaints } from '../../../knative/try/local/view/complaints.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('of a swarm of errors one is told, and the next tells how many there were', () => {
  const told: string[] = [];
  const complaints = new Complaints((text) => told.push(text));
  complaints.add(new Error('first'));
  complaints.add(new Error('second'));
  complaints.add(new Error('third'));
  vi.advanceTimersByTime(10_000);
  complaints.add('fourth');
  vi.advanceTimersByTime(10_000);
  complaints.add(new Error('fifth'));
  expect(told).toEqual(['first', 'fourth (and 2 more errors before)', 'fifth']);
});
