// The identity of an object is read out of JSON of any size, cut anywhere, without keeping the
// rest.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyText } from '../../builders/any-text.ts';
import { splitOrSkim } from '../../../shared/kube/lines.ts';
import { Skim } from '../../../shared/kube/skim.ts';
import { skimPaths, skimmedObject } from '../../../shared/kube/skimmed.ts';

const WANTED = ['kind', 'metadata.continue', 'metadata.remainingItemCount', ...skimPaths('items')];

function skimmed(json: string, cuts: readonly number[] = []): Readonly<Record<string, string>> {
  const skim = new Skim(WANTED);
  const bytes = Buffer.from(json);
  let start = 0;
  for (const cut of [...cuts, bytes.length].toSorted((a, b) => a - b)) {
    const end = Math.min(cut, bytes.length);
    skim.feed(bytes.subarray(start, end));
    start = Math.max(start, end);
  }
  return Object.fromEntries(skim.found);
}

const page = (name: string, junk: unknown): unknown => ({
  kind: 'PodList',
  metadata: { continue: 'a"b\\', remainingItemCount: 7 },
  items: [
    {
      metadata: { annotations: { name: 'no' }, labels: junk, name, namespace: 'shop', uid: 'u1' },
      spec: { junk, nodeName: 'n1', metadata: { name: 'nor this' } },
    },
  ],
});

test('names are found whatever stands before them, and wherever the stream is cut', () => {
  fc.assert(
    fc.property(anyText(), fc.json({ maxDepth: 3 }), fc.array(fc.nat(900)), (given, junk, cuts) => {
      const found = skimmed(JSON.stringify(page(given, JSON.parse(junk))), cuts);
      expect(found).toEqual({
        kind: 'PodList',
        'metadata.continue': 'a"b\\',
        'metadata.remainingItemCount': '7',
        'items.metadata.name': given,
        'items.metadata.namespace': 'shop',
        'items.metadata.uid': 'u1',
        'items.spec.nodeName': 'n1',
      });
    }),
  );
});

test('nothing is found in a page of no items', () => {
  const found = skimmed('{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[]}');
  expect(skimmedObject('items', found, { apiVersion: 'v1', kind: 'Pod' })).toBeUndefined();
});

test('a name of megabytes, and nesting without an end, are not kept', () => {
  const skim = new Skim(WANTED);
  skim.feed(Buffer.from('{"kind":"'));
  for (let index = 0; index < 100; index += 1) skim.feed(Buffer.alloc(100_000, 'a'));
  skim.feed(Buffer.from('","items":'));
  for (let index = 0; index < 100; index += 1) skim.feed(Buffer.alloc(10_000, '['));
  expect([...skim.found]).toEqual([]);
});

test('a line that is too long is skimmed, and those beside it are whole', async () => {
  const long = JSON.stringify({
    items: [{ metadata: { labels: 'x'.repeat(5_000), name: 'big' } }],
  });
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (const part of `{"a":1}\n${long}\n{"b":2}\n`.match(/[^]{1,700}/g) ?? []) {
      yield Buffer.from(part);
    }
  }
  const lines: unknown[] = [];
  for await (const line of splitOrSkim(chunks(), 1_000, () => new Skim(WANTED))) {
    lines.push(typeof line === 'string' ? line : line.found.get('items.metadata.name'));
  }
  expect(lines).toEqual(['{"a":1}', 'big', '{"b":2}']);
});

test('a key with dots in it is not taken for what it looks like', () => {
  const item = { metadata: { name: 'n' }, 'metadata.namespace': 'theirs', 'spec.nodeName': 'n1' };
  const found = skimmed(JSON.stringify({ kind: 'AnyList', items: [item] }));
  expect(found).toEqual({ kind: 'AnyList', 'items.metadata.name': 'n' });
});
