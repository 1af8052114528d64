// `npm start` leaves something to be migrated: widgets that are stored in a version that is not the
// current one, also when the start was cut short, and never again when somebody has worked on them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { fillTryOut } from '../../../knative/try/local/population/try-out.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { countStored } from '../../builders/etcd-values.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { CRDS } from '../../../shared/kube/crds.ts';

const WAIT = { timeout: 20_000, interval: 10 };
let plane: PlaneAddress;
let kube: KubeClient;

beforeAll(() => {
  plane = sharedPlane();
  const { kubeconfigPath } = plane;
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
});

afterAll(async () => {
  await kube?.close();
});

const stored = () => countStored(plane, 'demo.ballast.dev', 'widgets');
const definition = () => kube.get(CRDS, { name: 'widgets.demo.ballast.dev' });

test('a start that was cut short is taken up where it was', async () => {
  const abort = new AbortController();
  const cut = fillTryOut(kube, abort.signal);
  await expect.poll(async () => (await stored())['v1alpha1'] ?? 0, WAIT).toBeGreaterThan(5);
  abort.abort(new Error('cut short'));
  await expect(cut).rejects.toThrow('cut short');
  expect(await definition()).toMatchObject({ status: { storedVersions: ['v1alpha1'] } });

  await fillTryOut(kube);
  expect(await definition()).toMatchObject({ status: { storedVersions: ['v1alpha1', 'v1'] } });
  expect(await stored()).toEqual({ v1alpha1: 300 });
});

test('what is there already is left as it is', async () => {
  const widgets = { group: 'demo.ballast.dev', version: 'v1', resource: 'widgets' };
  const target = { namespace: 'default', name: 'widget-000' };
  const because = 'somebody tries things';
  await kube.delete(widgets, target, { precondition: 'none', because });
  const before = await definition();
  await fillTryOut(kube);
  expect(await definition()).toEqual(before);
  expect(await kube.get(widgets, target)).toBeNull();
});
