// How many objects are cleaned side by side: where a conversion webhook can go away between the
// question and the write, each of them may lose its managedFields by that.
import { expect, test } from 'vitest';
import type { Deps } from '../../../functions/storage-migration/deps.ts';
import { Pass } from '../../../functions/storage-migration/pass.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { HandClock } from '../../builders/hand-clock.ts';
import { at, crd, migration, target } from './samples.ts';

const object = (name: string, ...versions: readonly string[]): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: {
    name,
    uid: name,
    resourceVersion: '1',
    managedFields: versions.map((version) => ({
      manager: 'a',
      apiVersion: `example.com/${version}`,
    })),
  },
});

async function sideBySide(hasWebhook: boolean): Promise<number> {
  let [underWay, most] = [0, 0];
  const items = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => object(name, 'v0', 'v1'));
  const kube = {
    list: async () => ({ items, metadata: { resourceVersion: '1' } }),
    patch: async (_ref: unknown, { name }: { readonly name: string }) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise(setImmediate);
      underWay -= 1;
      return object(name, 'v1');
    },
  };
  const deps = { kube, clock: new HandClock() } as unknown as Deps;
  const pass = new Pass(deps, { concurrency: 16 }, new AbortController().signal);
  const of = { ...target(), crd: { ...crd(), hasWebhook } };
  const update = await pass.page(of, migration({ status: at('Cleaning') }), Infinity);
  expect(update.status.cleaned).toBe(6);
  return most;
}

test('one after the other with a webhook, more without', async () => {
  expect(await sideBySide(true)).toBe(1);
  expect(await sideBySide(false)).toBeGreaterThan(1);
});
