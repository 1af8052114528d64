// Admission: limits, deadlines and draining, with a clock that the test moves.
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../shared/errors.ts';
import { Gate, type Guest } from '../../../shared/function/gate.ts';
import { MovedClock } from '../../builders/moved-clock.ts';

class Visitor implements Guest {
  readonly reasons: string[] = [];
  expire(reason: Failure): void {
    this.reasons.push(reason.code);
  }
}

const open = (max = 2) => {
  const clock = new MovedClock();
  return { clock, gate: new Gate(clock, max, 30_000) };
};

describe('the limit', () => {
  it('turns away whoever comes beyond it, and lets the next in when one has left', () => {
    const { gate } = open(1);
    const [first, second] = [new Visitor(), new Visitor()];
    gate.enter(first);
    expect(() => gate.enter(second)).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
    gate.leave(first);
    gate.enter(second);
    expect(gate.inFlight).toBe(1);
  });
});

describe('the deadline', () => {
  it('expires each guest at its own time and once', async () => {
    const { clock, gate } = open();
    const [first, second] = [new Visitor(), new Visitor()];
    gate.enter(first);
    await clock.advance(20_000);
    gate.enter(second);
    await clock.advance(10_000);
    expect([first.reasons, second.reasons]).toEqual([['DEADLINE_EXCEEDED'], []]);
    await clock.advance(20_000);
    expect([first.reasons, second.reasons]).toEqual([['DEADLINE_EXCEEDED'], ['DEADLINE_EXCEEDED']]);
  });

  it('does not touch who has left', async () => {
    const { clock, gate } = open();
    const guest = new Visitor();
    gate.enter(guest);
    gate.leave(guest);
    await clock.advance(60_000);
    expect(guest.reasons).toEqual([]);
  });

  it('keeps the slot of work that goes on, and says so when no slot is left', async () => {
    const { clock, gate } = open(1);
    const guest = new Visitor();
    gate.enter(guest);
    await clock.advance(30_000);
    expect([gate.inFlight, gate.isStuck]).toEqual([1, true]);
    gate.leave(guest);
    expect([gate.inFlight, gate.isStuck]).toEqual([0, false]);
  });
});

describe('draining', () => {
  it('ends at once when nobody is in, and lets nobody in', async () => {
    const { gate } = open();
    expect(await gate.drain(5_000)).toEqual({ cutShort: 0 });
    expect(() => gate.enter(new Visitor())).toThrow(expect.objectContaining({ code: 'DRAINING' }));
  });

  it('waits for who is in', async () => {
    const { gate } = open();
    const guest = new Visitor();
    gate.enter(guest);
    const drained = gate.drain(5_000);
    gate.leave(guest);
    expect(await drained).toEqual({ cutShort: 0 });
    expect(guest.reasons).toEqual([]);
  });

  it('cuts short who stays longer than the grace', async () => {
    const { clock, gate } = open();
    const guest = new Visitor();
    gate.enter(guest);
    const drained = gate.drain(5_000);
    await clock.advance(5_000);
    expect(await drained).toEqual({ cutShort: 1 });
    expect(guest.reasons).toEqual(['DRAINING']);
  });
});
