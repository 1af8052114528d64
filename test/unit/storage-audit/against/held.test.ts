// Objects that were held against a schema leave counts of all, and names of few.
import { expect, test } from 'vitest';
import { Held } from '../../../../functions/storage-audit/against/held.ts';
import { InFlight } from '../../../../functions/storage-audit/against/in-flight.ts';

test('all refusals are counted, and the first names are told with what was said', () => {
  const held = new Held(2);
  for (const name of ['c', 'b', 'a']) {
    held.checked += 1;
    held.refused(name, 'too small');
  }
  const [reason, ...more] = held.reasons('w.example.com', 'v1');
  expect(more).toEqual([]);
  expect(reason?.says).toContain('refuses 3 of 3 objects');
  expect(reason?.objects).toEqual({ count: 3, examples: ['a: too small', 'b: too small'] });
});

test('no object and no number of fields makes it grow', () => {
  const held = new Held(2);
  for (let at = 0; at < 2_000; at += 1) {
    held.refused(`n${at}`, 'x'.repeat(10_000));
    held.lost(`n${at}`, [`.spec.f${at}`, `.spec.${'y'.repeat(10_000)}${at}`]);
  }
  const reasons = held.reasons('w.example.com', 'v1');
  expect(reasons.length).toBeLessThan(60);
  expect(JSON.stringify(reasons).length).toBeLessThan(200_000);
  const names = reasons.flatMap(({ objects }) => objects?.examples ?? []);
  expect(Math.max(...names.map((name) => Buffer.byteLength(name)))).toBeLessThanOrEqual(600);
  expect(reasons.at(-1)?.says).toMatch(/^Further fields would be dropped, \d+ times/);
});

test('a field is told by its path, with the objects that have it', () => {
  const held = new Held(3);
  held.lost('web/a', ['.spec.x']);
  held.lost('web/b', ['.spec.x', '.spec.y']);
  const told = held.reasons('w.example.com', 'v1').map(({ field, objects }) => [field, objects]);
  expect(told).toEqual([
    ['.spec.x', { count: 2, examples: ['web/a', 'web/b'] }],
    ['.spec.y', { count: 1, examples: ['web/b'] }],
  ]);
});

test('work waits for a place, and the first failure reaches who brings more', async () => {
  const work = new InFlight(2);
  const ends: (() => void)[] = [];
  const piece = () => new Promise<void>((resolve) => ends.push(resolve));
  await work.add(piece);
  await work.add(piece);
  let hasBegun = false;
  const third = work.add(() => {
    hasBegun = true;
    return Promise.reject(new Error('broken'));
  });
  expect(hasBegun).toBe(false);
  ends[0]?.();
  await third;
  await expect(work.add(piece)).rejects.toThrow('broken');
  ends[1]?.();
  await expect(work.end()).rejects.toThrow('broken');
});
