// Claims that get no volume: when that is said, and what is said of it.
import { expect, test } from 'vitest';
import type { Claim } from '../../../shared/stateful/claims.ts';
import { findPending } from '../../../shared/stateful/pending.ts';
import { KubeModel } from './kube-model.ts';
import { claim, claimName, NOW_MS, pod } from './samples.ts';

const EVENTS = { group: '', version: 'v1', resource: 'events' };
const AGE_MS = { old: 61_000, young: 5_000 };

const SERVERS = ['db-0', 'db-1', 'db-2'];

function claimsIn(phases: readonly string[], ageMs: number): readonly Claim[] {
  const createdAt = new Date(NOW_MS - ageMs).toISOString();
  return SERVERS.map((server, index) =>
    claim(server, { phase: phases[index] ?? 'Bound', createdAt }),
  );
}

const OWNER = {
  kind: 'Database',
  namespace: 'shop',
  accessModeField: 'storage.accessMode',
  claimName,
};

interface Told {
  readonly type: string;
  readonly message: string;
  readonly at: string;
}

async function pending(found: readonly Claim[], told: readonly Told[] = []) {
  const kube = new KubeModel();
  for (const [index, { type, message, at }] of told.entries()) {
    kube.put(EVENTS, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'shop', name: `e${index}` },
      involvedObject: { kind: 'PersistentVolumeClaim', uid: 'claim-db-0' },
      type,
      message,
      lastTimestamp: at,
    });
  }
  const { signal } = new AbortController();
  const deps = { kube: kube.client, nowMs: NOW_MS, signal, memory: {} };
  const pods = SERVERS.map((server) => pod(server, { isReady: false }));
  return [...(await findPending(deps, OWNER, pods, found))];
}

const waits = { type: 'Normal', message: 'waiting for a volume', at: '2026-01-02T00:00:00Z' };
const refuses = { type: 'Warning', message: 'not supported', at: '2026-01-01T23:59:00Z' };
const ALL = ['Pending', 'Pending', 'Pending'];

test('a new claim of which nothing bad is told is waited for in silence', async () => {
  expect(await pending(claimsIn(ALL, AGE_MS.young), [waits])).toEqual([]);
  expect(await pending(claimsIn([], AGE_MS.old))).toEqual([]);
});

test("the provisioner's refusal is told at once, and what to set, once", async () => {
  const told = await pending(claimsIn(ALL, AGE_MS.young), [waits, refuses]);
  expect(told).toEqual([
    [
      'db-0',
      'db-0 has no volume: claim data-db-0 (ReadWriteOncePod) of storage class standard is ' +
        'Pending: not supported. If that storage class cannot make ReadWriteOncePod, delete ' +
        'this Database and its claims, which are empty, and create it with ' +
        'storage.accessMode: ReadWriteOnce.',
    ],
  ]);
  const late = await pending(claimsIn(ALL, AGE_MS.old), [waits]);
  expect(late.map(([server]) => server)).toEqual(['db-0', 'db-1', 'db-2']);
  expect(late.filter(([, message]) => message.includes('delete this'))).toHaveLength(1);
  expect(late[0]?.[1]).toContain('is Pending: waiting for a volume.');
  expect(late[1]?.[1]).toContain('is Pending: no Event says why.');
});

test('nobody is told to delete claims of which one has a volume', async () => {
  const [first] = await pending(claimsIn(['Pending'], AGE_MS.old), [refuses]);
  expect(first?.[1]).toMatch(/is Pending: not supported\.$/);
});

test('a look each second reads the Events each ten seconds, and tells the same', async () => {
  const kube = new KubeModel();
  const { signal } = new AbortController();
  const memory = {};
  const found = claimsIn(ALL, AGE_MS.old);
  const pods = SERVERS.map((server) => pod(server, { isReady: false }));
  const told = new Set<string>();
  for (let second = 0; second < 30; second += 1) {
    const deps = { kube: kube.client, nowMs: NOW_MS + second * 1_000, signal, memory };
    told.add(JSON.stringify([...(await findPending(deps, OWNER, pods, found))]));
  }
  expect({ reads: kube.reads, told: told.size }).toEqual({ reads: 3, told: 1 });
});
