// Admission of requests: limits, deadlines and draining, with a clock that the test moves.
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../shared/errors.ts';
import { Admission, type Admitted } from '../../../shared/function/admission.ts';
import { MovedClock } from '../../builders/moved-clock.ts';

class Request implements Admitted {
  readonly reasons: string[] = [];
  expire(reason: Failure): void {
    this.reasons.push(reason.code);
  }
}

const open = (max = 2) => {
  const clock = new MovedClock();
  return { clock, admission: new Admission(clock, max, 30_000) };
};

describe('the limit', () => {
  it('refuses a request beyond it, and admits the next one after a release', () => {
    const { admission } = open(1);
    const [first, second] = [new Request(), new Request()];
    admission.admit(first);
    expect(() => admission.admit(second)).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
    admission.release(first);
    admission.admit(second);
    expect(admission.inFlight).toBe(1);
  });
});

describe('the deadline', () => {
  it('expires each request at its own time and once', async () => {
    const { clock, admission } = open();
    const [first, second] = [new Request(), new Request()];
    admission.admit(first);
    await clock.advance(20_000);
    admission.admit(second);
    await clock.advance(10_000);
    expect([first.reasons, second.reasons]).toEqual([['DEADLINE_EXCEEDED'], []]);
    await clock.advance(20_000);
    expect([first.reasons, second.reasons]).toEqual([['DEADLINE_EXCEEDED'], ['DEADLINE_EXCEEDED']]);
  });

  it('does not expire a released request', async () => {
    const { clock, admission } = open();
    const request = new Request();
    admission.admit(request);
    admission.release(request);
    await clock.advance(60_000);
    expect(request.reasons).toEqual([]);
  });

  it('keeps the slot of work that goes on, and says so when no slot is left', async () => {
    const { clock, admission } = open(1);
    const request = new Request();
    admission.admit(request);
    await clock.advance(30_000);
    expect([admission.inFlight, admission.isStuck]).toEqual([1, true]);
    admission.release(request);
    expect([admission.inFlight, admission.isStuck]).toEqual([0, false]);
  });
});

describe('draining', () => {
  it('ends at once when nobody is in, and lets nobody in', async () => {
    const { admission } = open();
    expect(await admission.drain(5_000)).toEqual({ cutShort: 0 });
    expect(() => admission.admit(new Request())).toThrow(
      expect.objectContaining({ code: 'DRAINING' }),
    );
  });

  it('waits for who is in', async () => {
    const { admission } = open();
    const request = new Request();
    admission.admit(request);
    const drained = admission.drain(5_000);
    admission.release(request);
    expect(await drained).toEqual({ cutShort: 0 });
    expect(request.reasons).toEqual([]);
  });

  it('cuts short who stays longer than the grace', async () => {
    const { clock, admission } = open();
    const request = new Request();
    admission.admit(request);
    const drained = admission.drain(5_000);
    await clock.advance(5_000);
    expect(await drained).toEqual({ cutShort: 1 });
    expect(request.reasons).toEqual(['DRAINING']);
  });
});
