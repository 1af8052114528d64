// A new definition names a conversion webhook, and it is told whether that is there.
import { expect, test } from 'vitest';
import { type Crd, crdOf } from '../../../../functions/storage-audit/against/crd.ts';
import { webhookReasons } from '../../../../functions/storage-audit/against/webhook.ts';
import type { WebhookState, World } from '../../../../functions/storage-audit/against/world.ts';
import { crdManifest } from '../../../builders/crd-shape.ts';

const versions = [{ name: 'v1', schema: { type: 'object' }, storage: true }];
const shape = { group: 'example.com', plural: 'widgets', kind: 'Widget', versions };

function crd(caBundle?: string, annotations: Readonly<Record<string, string>> = {}): Crd {
  const service = { namespace: 'web', name: 'hook' };
  const webhook = { clientConfig: { service, ...(caBundle && { caBundle }) } };
  const conversion = { strategy: 'Webhook', webhook };
  return crdOf(crdManifest({ ...shape, annotations, conversion }));
}

const world = (state: WebhookState): World => ({
  of: { source: 'test' },
  read: () => Promise.reject(new Error('not asked')),
  objects: () => Promise.reject(new Error('not asked')),
  webhook: () => Promise.resolve(state),
});
const stored = (objects: number) => ({
  objects,
  byVersion: new Map(),
  inFields: new Map(),
  hidden: { count: 0, examples: [] },
});

const there = { lacks: undefined };
const injected = { 'cert-manager.io/inject-ca-from': 'web/cert' };
const fine = crd('Q0E=');

test.each([
  ['all is there', there, fine, fine, 1, []],
  ['nothing converts', { lacks: 'x' }, fine, crdOf(crdManifest(shape)), 1, []],
  ['no Service', { lacks: 'is not there' }, fine, fine, 1, ['unsafe-objects']],
  ['no Service, and nothing to convert', { lacks: 'is not there' }, fine, fine, 0, ['note']],
  ['nobody can tell', { unknown: 'is there' }, fine, fine, 1, ['note']],
  ['no authority', there, undefined, crd(), 1, ['unsafe-objects']],
  ['no authority where there was one', there, fine, crd(), 1, ['note']],
  ['an authority that cert-manager writes', there, undefined, crd(undefined, injected), 1, []],
])('%s', async (_, state, from, to, objects, weights) => {
  const reasons = await webhookReasons(world(state), { from, to, stored: stored(objects) });
  expect(reasons.map(({ weight }) => weight)).toEqual(weights);
});
