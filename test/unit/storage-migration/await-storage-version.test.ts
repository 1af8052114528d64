// The flip has to be seen on every API server, for a while, before anything is rewritten.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { Deps } from '../../../functions/storage-migration/deps.ts';
import { awaitStorageVersion } from '../../../functions/storage-migration/await-storage-version.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { urlsIn } from '../../../shared/kube/servers.ts';

const GROUP = 'example.com';
const ref = { group: GROUP, version: 'v1', resource: 'widgets' };
const target = { ref, kind: 'Widget', version: 'v1', crd: undefined };
const SETTLE_MS = 1_000;
const SETTLED = { lacking: undefined, isNews: false };
const soon = AbortSignal.timeout(10_000);

/** As Kubernetes reckons it: eight bytes of the hash of group, version and kind. */
const hashOf = (version: string): string =>
  createHash('sha256')
    .update(`${GROUP}/${version}/Widget`)
    .digest()
    .subarray(0, 8)
    .toString('base64');

/** Announces what the test says at each moment. */
const serverThat = (announces: () => string): KubeClient =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as much of it as is asked
  ({
    raw: async () => {
      const storageVersionHashNow = hashOf(announces());
      const widgets = {
        name: 'widgets',
        kind: 'Widget',
        storageVersionHash: storageVersionHashNow,
      };
      return { statusCode: 200, contentType: '', text: JSON.stringify({ resources: [widgets] }) };
    },
    close: async () => undefined,
  }) as unknown as KubeClient;

const slice = (addresses: readonly string[], addressType = 'IPv4'): KubeObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'kubernetes', namespace: 'default', uid: 'u', resourceVersion: '1' },
  addressType,
  endpoints: addresses.map((address) => ({ addresses: [address] })),
  ports: [{ name: 'https', port: 6443 }],
});

function settled(servers: Readonly<Record<string, () => string>>, clock: Clock, workMs = 5_000) {
  const [own = () => ''] = Object.values(servers);
  const items = [slice(Object.keys(servers))];
  const kube = Object.assign(serverThat(own), { list: async () => ({ items }) });
  const openServer = (url: string): KubeClient =>
    serverThat(servers[new URL(url).hostname] ?? (() => ''));
  const times = { workMs, settleMs: SETTLE_MS, longestWriteMs: 0 };
  const lease = { namespace: 'n', name: 'unused', sweepSeconds: 60 };
  const deps = new Deps({ kube, openServer, clock, lease, ...times });
  return awaitStorageVersion(deps, target, clock.nowMs() + workMs, soon);
}

/** Time that passes by waiting alone. */
function timeOfTest(): Clock {
  let nowMs = 0;
  return {
    nowMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
  };
}

test('one server that has announced it for long enough is settled', async () => {
  const clock = timeOfTest();
  expect(await settled({ '10.0.0.1': () => 'v1' }, clock)).toEqual(SETTLED);
  expect(clock.nowMs()).toBeGreaterThanOrEqual(SETTLE_MS);
});

test('a second server that hears of it later is waited for', async () => {
  const clock = timeOfTest();
  const late = (): string => (clock.nowMs() < 2_000 ? 'v1alpha1' : 'v1');
  expect(await settled({ '10.0.0.1': () => 'v1', '10.0.0.2': late }, clock)).toEqual({
    ...SETTLED,
    isNews: true,
  });
  expect(clock.nowMs()).toBeGreaterThanOrEqual(2_000 + SETTLE_MS);
});

test('a server that goes back and forth begins the wait again', async () => {
  const clock = timeOfTest();
  const odd = (): string => (clock.nowMs() > 500 && clock.nowMs() < 900 ? 'v1alpha1' : 'v1');
  expect(await settled({ '10.0.0.1': odd }, clock)).toEqual({ ...SETTLED, isNews: true });
  expect(clock.nowMs()).toBeGreaterThanOrEqual(900 + SETTLE_MS);
});

test('servers that agree just before the end are given the rest of the wait', async () => {
  const clock = timeOfTest();
  const late = (): string => (clock.nowMs() < 1_000 ? 'v1alpha1' : 'v1');
  const found = await settled({ '10.0.0.1': late }, clock, 1_100);
  expect(found).toEqual({ ...SETTLED, isNews: true });
  expect(clock.nowMs()).toBeGreaterThanOrEqual(1_000 + SETTLE_MS);
});

test('a server that never announces it is named', async () => {
  const never = { '10.0.0.1': () => 'v1', '10.0.0.2': () => 'v1alpha1' };
  expect((await settled(never, timeOfTest())).lacking).toBe(
    'The API server at https://10.0.0.2:6443 does not announce v1 as what it stores.',
  );
});

test('API servers are found by their addresses, of both families', () => {
  expect(urlsIn(slice(['10.0.0.1', '10.0.0.2']))).toEqual([
    'https://10.0.0.1:6443',
    'https://10.0.0.2:6443',
  ]);
  expect(urlsIn(slice(['fd00::1'], 'IPv6'))).toEqual(['https://[fd00::1]:6443']);
});
