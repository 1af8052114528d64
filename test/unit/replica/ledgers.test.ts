// When a checkpoint is compared with what is held, and when it says nothing yet.
import { expect, test } from 'vitest';
import { Digest } from '../../../shared/feed/digest.ts';
import { Ledgers } from '../../../shared/nats/replica/ledgers.ts';
import { countsLedger, filtersOf, ledgerOf } from '../../../shared/nats/replica/scope.ts';

const one = { high: 1, low: 1 };
const two = { high: 2, low: 2 };

type Sum = typeof one;

function checkpointOf(version: number, ...held: readonly Sum[]) {
  const digest = new Digest();
  for (const each of held) digest.add(each);
  return { epoch: 1, version, objects: held.length, digest: digest.toString() };
}

/** A replica that is current at version 1 and holds nothing. */
function following(): Ledgers {
  const ledgers = new Ledgers(
    () => true,
    () => 0,
  );
  ledgers.caughtUp(1, 0);
  return ledgers;
}

function put(ledgers: Ledgers, ledger: string, sequence: number, sum: Sum): void {
  ledgers.touch(ledger, sequence);
  ledgers.add(ledger, sum);
}

test('a checkpoint agrees, or differs until a later one agrees', () => {
  const ledgers = following();
  put(ledgers, 'all._', 4, one);
  ledgers.note('all._', 5, checkpointOf(4, one));
  expect(ledgers.compare('all._')).toBe(true);
  expect(ledgers.verified).toBe(5);
  ledgers.note('all._', 7, checkpointOf(6, one, two));
  expect([ledgers.compare('all._'), ledgers.compare('all._')]).toEqual([false, false]);
  expect(ledgers.mismatches).toBe(1);
  expect(ledgers.difference?.sequence).toBe(7);
  put(ledgers, 'all._', 8, two);
  ledgers.note('all._', 9, checkpointOf(8, one, two));
  expect(ledgers.compare('all._')).toBe(true);
  expect(ledgers.difference).toBeUndefined();
  expect(ledgers.verified).toBe(9);
});

test('one is compared as of its version, also when its ledger has changed since', () => {
  const ledgers = following();
  put(ledgers, 'all._', 4, one);
  put(ledgers, 'cluster._', 5, two);
  put(ledgers, 'all._', 6, two);
  ledgers.note('all._', 7, checkpointOf(5, one));
  expect(ledgers.compare('all._')).toBe(true);
  ledgers.note('all._', 8, checkpointOf(3));
  expect(ledgers.compare('all._')).toBe(true);
  ledgers.note('all._', 9, checkpointOf(5, one, two));
  expect(ledgers.compare('all._')).toBe(false);
  expect([ledgers.mismatches, ledgers.passedOver]).toEqual([1, 0]);
  expect(ledgers.rows).toMatchObject([
    { name: 'all._', objects: 2, verified: 8 },
    { name: 'cluster._', objects: 1, verified: 0 },
  ]);
});

test('of a version from before it caught up one says nothing once the ledger has changed', () => {
  const ledgers = new Ledgers(
    () => true,
    () => 0,
  );
  put(ledgers, 'all._', 6, one);
  put(ledgers, 'cluster._', 4, one);
  ledgers.note('all._', 7, checkpointOf(5, two));
  ledgers.note('cluster._', 8, checkpointOf(5, one));
  expect(ledgers.caughtUp(8, 0)).toBe(true);
  expect([ledgers.verified, ledgers.mismatches, ledgers.passedOver]).toEqual([8, 0, 1]);
});

test('what a bookmark holds says nothing about a version before the bookmark', () => {
  const ledgers = new Ledgers(
    () => true,
    () => 0,
  );
  ledgers.restored(10);
  ledgers.add('all._', one);
  ledgers.note('all._', 11, checkpointOf(9, two));
  ledgers.caughtUp(11, 0);
  expect([ledgers.mismatches, ledgers.passedOver]).toEqual([0, 1]);
  ledgers.note('all._', 13, checkpointOf(12, one));
  expect(ledgers.compare('all._')).toBe(true);
});

test('one that claims to be of the future is nobody of the feed', () => {
  const ledgers = following();
  ledgers.note('all._', 5, checkpointOf(5, two));
  expect(ledgers.compare('all._')).toBe(false);
  expect(ledgers.mismatches).toBe(0);
});

test('after a catch-up only those within it count, and only trusted ones can accuse', () => {
  const ledgers = following();
  ledgers.note('node.n1', 5, checkpointOf(4));
  ledgers.note('node.n2', 7, checkpointOf(6, one));
  ledgers.note('node.n3', 9, checkpointOf(8, one));
  expect(ledgers.caughtUp(8, 7)).toBe(true);
  expect([ledgers.verified, ledgers.mismatches]).toEqual([5, 0]);
  ledgers.caughtUp(8, 6);
  expect(ledgers.mismatches).toBe(1);
});

test('a snapshot answers a difference, unless the checkpoint still says the same of it', () => {
  const ledgers = following();
  ledgers.note('all._', 5, checkpointOf(4, one));
  ledgers.note('cluster._', 6, checkpointOf(4, one));
  for (const name of ['all._', 'cluster._']) ledgers.compare(name);
  ledgers.forgetSequences();
  ledgers.touch('all._', 7);
  ledgers.note('all._', 5, checkpointOf(4, one));
  ledgers.note('cluster._', 6, checkpointOf(4, one));
  ledgers.tookSnapshot();
  ledgers.caughtUp(8, 0);
  expect(ledgers.difference?.sequence).toBe(6);
  expect(ledgers.mismatches).toBe(2);
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
