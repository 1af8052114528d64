// Memory of many objects: one bound for all, which the largest of them pay for.
import { expect, test } from 'vitest';
import { Memories } from '../../../shared/stateful/memory.ts';

interface Memory {
  bytes?: number;
  content?: string;
  lasting?: string;
}

const MEGABYTE = 1_000_000;

const memories = () =>
  new Memories<Memory>({ make: () => ({}), forget: (memory) => delete memory.content });

function remember(all: Memories<Memory>, uid: string, size: number): void {
  const memory = all.of(uid);
  memory.content = 'x'.repeat(size);
  memory.lasting = 'small';
  all.weigh(uid, memory.content);
}

test('an object that is small stays, however many large ones there are', () => {
  const all = memories();
  remember(all, 'small', 20_000);
  for (let index = 0; index < 40; index += 1) remember(all, `large-${index}`, MEGABYTE);
  expect(all.of('small').content).toHaveLength(20_000);
  const large = Array.from({ length: 40 }, (_, index) => all.of(`large-${index}`));
  const kept = large.filter(({ content }) => content !== undefined);
  expect(kept.length).toBeGreaterThan(20);
  expect(kept.length).toBeLessThanOrEqual(25);
  const bytes = large.map((one) => one.bytes ?? 0).reduce((sum, one) => sum + one);
  expect(bytes).toBeLessThan(24 * 2 ** 20);
});

test('one that is too large alone is not kept, and costs the others nothing', () => {
  const all = memories();
  remember(all, 'a', MEGABYTE);
  remember(all, 'huge', 30 * MEGABYTE);
  expect([all.of('a').content?.length, all.of('huge').content]).toEqual([MEGABYTE, undefined]);
  expect(all.of('huge').lasting).toBe('small');
});

test('objects that are gone are forgotten with everything', () => {
  const all = memories();
  remember(all, 'gone', 10);
  remember(all, 'there', 10);
  all.keepOnly(new Set(['there']));
  expect([all.of('gone').lasting, all.of('there').lasting]).toEqual([undefined, 'small']);
});
