// Keys are compared page by page. A look ends in time however slow members are, and the next one
// goes on where it ended.
import { expect, test } from 'vitest';
import { type Both, compareKeys } from '../../../functions/takeover/compare.ts';
import type { KeyHead } from '../../../shared/etcd/admin/keys.ts';

const KEYS = 9_000;
const all = Array.from({ length: KEYS }, (_, at): KeyHead => {
  const key = Buffer.from(`key/${String(at).padStart(6, '0')}`);
  return { key, createRevision: '2', modRevision: `${at + 2}`, version: '1', lease: '0' };
});

const both = (before?: Both['before']): Both => ({
  old: { endpoints: [{ url: 'http://10.0.0.1:2379' }], tls: undefined },
  now: { endpoints: [{ url: 'http://10.0.0.2:2379' }], tls: undefined },
  revision: '9002',
  before,
});

test('slow members are compared in several looks, which each tell how far they came', async () => {
  let nowMs = 0;
  const { signal } = new AbortController();
  const clock = { nowMs: () => nowMs };
  const door = {
    heads: async (_: unknown, { from, limit }: { from: Buffer; limit: number }) => {
      // Both are asked at once.
      nowMs += 1_500;
      const first = all.findIndex(({ key }) => key.compare(from) >= 0);
      return first === -1 ? [] : all.slice(first, first + limit);
    },
  };
  const counts: number[] = [];
  let before: Both['before'];
  for (let isWhole = false; !isWhole && counts.length < 9;) {
    const found = await compareKeys({ door, clock, signal }, both(before));
    if ('reason' in found) throw new Error(found.message);
    counts.push(found.keys);
    before = found;
    ({ isWhole } = found);
  }
  expect(counts).toEqual([4_000, 8_000, 9_000]);
});
