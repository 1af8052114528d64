// When a sweep renews its Lease, and what it says there of objects at which it failed.
import { expect, test } from 'vitest';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject, Manifest } from '../../../shared/kube/objects.ts';
import { readSweepLease, sweepEach } from '../../../shared/kube/sweep-lease.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const objects = (count: number): readonly KubeObject[] =>
  Array.from({ length: count }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Any',
    metadata: { namespace: 'shop', name: `o${index}`, uid: `u${index}`, resourceVersion: '1' },
  }));

/** An API server that holds one Lease. */
class Held {
  lease: KubeObject | null = null;
  writes = 0;
  readonly warned: string[] = [];
  readonly #refuses: boolean;

  constructor({ refuses = false } = {}) {
    this.#refuses = refuses;
  }

  async sweep(count: number, failed: readonly string[] = [], nowMs = NOW): Promise<void> {
    const apply = async (_ref: unknown, manifest: Manifest): Promise<Manifest> => {
      if (this.#refuses) throw new Error('refused');
      this.writes += 1;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the rest is not read
      this.lease = manifest as KubeObject;
      return manifest;
    };
    const kube = { get: async () => this.lease, apply } as unknown as KubeClient;
    const lease = { namespace: 'ballast-system', name: 'l', sweepSeconds: 120 };
    const log = { warn: (_fields: object, message: string) => void this.warned.push(message) };
    const reconcile = async ({ metadata }: KubeObject): Promise<void> => {
      if (failed.includes(metadata.name)) throw new Error(`cannot look at ${metadata.name}`);
    };
    const { signal } = new AbortController();
    await sweepEach(objects(count), reconcile, { kube, lease, nowMs: () => nowMs, log, signal });
  }
}

test('a sweep of everything renews the Lease once, for two periods and a minute', async () => {
  const held = new Held();
  await held.sweep(50);
  expect(held.writes).toBe(1);
  expect(readSweepLease(held.lease)).toEqual({
    renewTime: '2026-11-22T12:00:00.000000Z',
    lastsMs: 300_000,
    failing: new Map(),
  });
});

test('a sweep where there is nothing to look at was a sweep', async () => {
  const held = new Held();
  await held.sweep(0);
  expect(held.writes).toBe(1);
});

test('one object that fails is named, since the first time, until a look goes well', async () => {
  const held = new Held();
  await expect(held.sweep(3, ['o1'])).rejects.toThrow('cannot look at o1');
  await expect(held.sweep(3, ['o1', 'o2'], NOW + 60_000)).rejects.toThrow('cannot look at o1');
  expect([...readSweepLease(held.lease).failing]).toEqual([
    ['shop/o1', '2026-11-22T12:00:00Z'],
    ['shop/o2', '2026-11-22T12:01:00Z'],
  ]);
  await held.sweep(3);
  expect(readSweepLease(held.lease).failing).toEqual(new Map());
});

test('a sweep that failed at everything, or at very many, renews nothing', async () => {
  const held = new Held();
  await expect(held.sweep(1, ['o0'])).rejects.toThrow('cannot look at o0');
  const many = Array.from({ length: 101 }, (_, index) => `o${index}`);
  await expect(held.sweep(200, many)).rejects.toThrow('cannot look at o0');
  expect(held.writes).toBe(0);
});

test('where the Lease may not be written the sweep is done all the same, and warns', async () => {
  const held = new Held({ refuses: true });
  await held.sweep(2);
  expect(held.warned).toEqual(['the Lease of the sweep could not be renewed']);
});
