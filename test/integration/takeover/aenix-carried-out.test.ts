// A confirmed plan on a real etcd 3.5.35 in a StatefulSet, as aenix's operator leaves it, is
// carried out and rolled back, with a writer that keeps its connection, and with webhooks of that
// operator that nobody answers for. Its claims stay, and all else goes.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openKube } from '../../../shared/kube/client.ts';
import { aenixSide, namespace } from './old-side.ts';
import {
  expectCarriedOut,
  expectNoErrors,
  type RestoreScene,
  expectRolledBackAmid,
  expectRolledBackLate,
  startScene,
  stopScene,
} from './restore-scene.ts';

const LONG_MS = 600_000;

let scene: RestoreScene;

function around(isSecret: boolean): void {
  beforeAll(async () => {
    scene = await startScene(aenixSide(isSecret));
  }, LONG_MS);

  afterAll(() => scene && stopScene(scene));

  afterEach(() => expectNoErrors(scene));
}

/** The answers of each member to probes: of life, of being ready, and of having started. */
async function probed(): Promise<readonly (readonly number[])[]> {
  const paths = ['/livez', '/readyz', '/readyz?serializable=false'];
  return Promise.all(
    scene.place.side.members.map(({ ip }) =>
      Promise.all(paths.map(async (path) => (await fetch(`http://${ip}:2381${path}`)).status)),
    ),
  );
}

/** Objects that its operator made beside Services, pods and claims. */
async function left(): Promise<readonly string[]> {
  const { place } = scene;
  const found = await Promise.all([
    place.found('statefulsets', 'apps'),
    place.found('configmaps', ''),
    place.found('poddisruptionbudgets', 'policy'),
  ]);
  return found.flat().filter((name) => name.startsWith('old') && !name.startsWith('old-2'));
}

describe('without TLS', () => {
  around(false);

  test(
    'rolled back from amid, the old cluster serves as before',
    { timeout: LONG_MS },
    async () => {
      const always = [200, 200, 200];
      expect(await probed()).toEqual([always, always, always]);
      // The kubelet ends nobody that runs, and everybody that starts.
      const unready = [200, 503, 503];
      await expectRolledBackAmid(scene, async () => {
        expect(await probed()).toEqual([unready, unready, unready]);
      });
      expect(await probed()).toEqual([always, always, always]);
    },
  );

  test('carried out, its claims alone are left', { timeout: LONG_MS }, async () => {
    expect(await left()).toEqual(['old', 'old-cluster-state', 'old']);
    await expectCarriedOut(scene);
    await expect.poll(left, { timeout: 60_000 }).toEqual([]);
  });
});

describe('with TLS of clients', () => {
  around(true);

  test('rolled back just before the switch, it serves as before', { timeout: LONG_MS }, () =>
    expectRolledBackLate(scene),
  );

  test('carried out, no acknowledged write is lost', { timeout: LONG_MS }, async () => {
    await expectCarriedOut(scene);
    const { lacking, refused } = await scene.place.misfits();
    expect([lacking, refused]).toEqual([[], []]);
  });

  test('its dead webhooks refuse a change of such an object still', async () => {
    const ended = new AbortController();
    const { kubeconfigPath } = scene.place.etcd.plane;
    const kube = openKube({
      kubeconfigPath,
      userAgent: 'test',
      fieldManager: 'test',
      onRetry: ({ statusCode }) => ended.abort(new Error(`answered ${statusCode}`)),
    });
    const metadata = { namespace, name: 'another' };
    const apiVersion = 'etcd.aenix.io/v1alpha1';
    const manifest = { apiVersion, kind: 'EtcdCluster', metadata, spec: {} };
    const made = kube.create(scene.place.side.ref, manifest, { signal: ended.signal });
    await expect(made).rejects.toThrow('answered 500');
    await kube.close();
  });
});
