// Shared by the tests of the narrow cache: a cache behind a front that can cut it off, and an admin
// beside it whose writes it has to see.
import { afterEach, beforeEach } from 'vitest';
import type { PlaneAddress } from '../../../../knative/try/local/plane/address.ts';
import { Metrics } from '../../../../shared/function/metrics.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import type { Change } from '../../../../shared/kube/narrow-cache/handlers.ts';
import type { Limits } from '../../../../shared/kube/narrow-cache/limits.ts';
import {
  type NarrowCache,
  narrowCache,
} from '../../../../shared/kube/narrow-cache/narrow-cache.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import { type Front, openFront } from '../front.ts';
import { configMap, configMaps, namespace, openTestKube, withSharedPlane } from '../world.ts';

export interface Rig {
  readonly front: Front;
  readonly kube: KubeClient;
  readonly cache: NarrowCache;
  readonly metrics: Metrics;
  readonly warnings: string[];
  close(): Promise<void>;
}

/** `kubeconfigPath` instead of the front's leads around the front. */
export async function openRig(
  plane: PlaneAddress,
  limits: Partial<Limits> = {},
  kubeconfigPath?: string,
): Promise<Rig> {
  const front = await openFront(plane);
  const kube = openTestKube(plane, kubeconfigPath ?? front.kubeconfigPath);
  const metrics = new Metrics();
  const warnings: string[] = [];
  const log = { warn: (_: object, message: string) => void warnings.push(message) };
  const cache = narrowCache(kube, { metrics, log, limits });
  const close = async (): Promise<void> => {
    cache.close();
    await kube.close();
    await front.close();
  };
  return { front, kube, cache, metrics, warnings, close };
}

export interface Given {
  readonly plane: PlaneAddress;
  readonly admin: KubeClient;
  readonly rig: Rig;
}

/** A rig for each test of a file; answers how a test gets another one with limits of its own. */
export function withRigEach(
  use: (given: Given) => void,
): (limits: Partial<Limits>) => Promise<void> {
  let given: Omit<Given, 'rig'>;
  let rig: Rig;
  withSharedPlane((plane, admin) => {
    given = { plane, admin };
    return undefined;
  });
  const open = async (limits: Partial<Limits> = {}): Promise<void> => {
    rig = await openRig(given.plane, limits);
    use({ ...given, rig });
  };
  beforeEach(() => open());
  afterEach(() => rig.close());
  return async (limits) => {
    await rig.close();
    await open(limits);
  };
}

export const named = (name: string) => ({ namespace, name });

export function write(
  admin: KubeClient,
  name: string,
  value: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<KubeObject> {
  const manifest = configMap(name, { value });
  const metadata = { ...manifest.metadata, labels };
  return admin.apply(configMaps, { ...manifest, metadata }, { force: true });
}

export async function remove(admin: KubeClient, name: string): Promise<void> {
  const because = 'the test made it';
  await admin.delete(configMaps, named(name), { precondition: 'none', because });
}

const valueOf = (object: KubeObject | null): string | null =>
  object === null ? null : ((object['data'] as { value?: string } | undefined)?.value ?? '');

/** The value of a ConfigMap, as the cache answers now. */
export const valueIn = async ({ cache }: Rig, name: string): Promise<string | null> =>
  valueOf(await cache.get(configMaps, named(name)));

/** Every change as `old>new`, in the order it was told. */
export function follow({ cache }: Rig, name: string): { told: string[]; stop: () => void } {
  const told: string[] = [];
  const inShort = (object: Change['old']) =>
    object === undefined ? '?' : (valueOf(object) ?? 'absent');
  const stop = cache.source(configMaps, named(name), (change) => {
    told.push(`${inShort(change.old)}>${inShort(change.new)}`);
  });
  return { told, stop };
}

/** The sum over all labels. */
export function metricOf({ metrics }: Rig, name: string): number {
  for (const one of metrics.all()) {
    if (one.name !== `ballast_narrow_cache_${name}` || one.kind === 'histogram') continue;
    return [...one.cells].reduce((sum, cell) => sum + cell.value, 0);
  }
  return 0;
}
