// When a checkpoint is compared with what is held, and when it says nothing yet.
import { expect, test } from 'vitest';
import { Digest } from '../../../shared/feed/digest.ts';
import { Ledgers } from '../../../shared/nats/replica/ledgers.ts';
import { countsLedger, filtersOf, ledgerOf } from '../../../shared/nats/replica/scope.ts';

const one = { high: 1, low: 1 };
const two = { high: 2, low: 2 };

function checkpointOf(...held: readonly { high: number; low: number }[]) {
  const digest = new Digest();
  for (const each of held) digest.add(each);
  return { epoch: 1, version: 5, objects: held.length, digest: digest.toString() };
}

test('a checkpoint agrees, or differs until a later one agrees', () => {
  const ledgers = new Ledgers(() => true);
  ledgers.add('all._', one);
  ledgers.note('all._', 5, checkpointOf(one));
  expect(ledgers.compare('all._')).toBe(true);
  expect(ledgers.verified).toBe(5);
  ledgers.note('all._', 7, checkpointOf(one, two));
  expect([ledgers.compare('all._'), ledgers.compare('all._')]).toEqual([false, false]);
  expect(ledgers.mismatches).toBe(1);
  expect(ledgers.difference?.sequence).toBe(7);
  ledgers.add('all._', two);
  ledgers.note('all._', 9, checkpointOf(one, two));
  expect(ledgers.compare('all._')).toBe(true);
  expect(ledgers.difference).toBeUndefined();
  expect(ledgers.verified).toBe(9);
});

test('one that came before the newest message of its ledger says nothing', () => {
  const ledgers = new Ledgers(() => true);
  ledgers.touch('all._', 6);
  ledgers.note('all._', 5, checkpointOf(one));
  expect(ledgers.compare('all._')).toBe(false);
  expect(ledgers.mismatches).toBe(0);
});

test('one that comes after a write which it did not see says nothing', () => {
  const ledgers = new Ledgers(() => true);
  ledgers.touch('all._', 6);
  ledgers.note('all._', 7, checkpointOf(one));
  expect(ledgers.compare('all._')).toBe(false);
  expect(ledgers.mismatches).toBe(0);
});

test('after a catch-up only those within it count, and only trusted ones can accuse', () => {
  const ledgers = new Ledgers(() => true);
  ledgers.note('node.n1', 5, checkpointOf());
  ledgers.note('node.n2', 6, checkpointOf(one));
  ledgers.note('node.n3', 9, checkpointOf(one));
  expect(ledgers.compareAll(8, 7)).toBe(true);
  expect([ledgers.verified, ledgers.mismatches]).toEqual([5, 0]);
  ledgers.compareAll(8, 6);
  expect(ledgers.mismatches).toBe(1);
});

test('each scope listens to its part, and counts the ledgers that it holds whole', () => {
  expect(filtersOf({ node: 'n.1' })).toEqual(['node.n%2e1.>', 'all._.>']);
  expect(filtersOf('cluster')).toEqual(['>']);
  expect(filtersOf({ namespaces: ['web', 'web'] })).toEqual([
    '*.*.*.web.*',
    '*.*.*._.*',
    'namespace.web.>',
    'namespace._.>',
    'all._.feed',
    'all._.floor',
  ]);
  const ledgers = ['node.n1', 'node.n2', 'all._', 'cluster._', 'namespace.web', 'namespace._'];
  const counted = (scope: Parameters<typeof countsLedger>[0]): string[] =>
    ledgers.filter(countsLedger(scope));
  expect(counted({ node: 'n1' })).toEqual(['node.n1', 'all._']);
  expect(counted('cluster')).toEqual(['node.n1', 'node.n2', 'all._', 'cluster._']);
  expect(counted({ namespaces: ['web'] })).toEqual(['namespace.web', 'namespace._']);
  expect(ledgerOf({ namespaces: ['web'] }, 'node.n1.pods.web.a')).toBe('namespace.web');
  expect(ledgerOf('cluster', 'node.n1.pods.web.a')).toBe('node.n1');
});
