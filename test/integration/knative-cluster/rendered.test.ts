// Knative's own manifests, as its pinned modules carry them, after we have changed them: nothing in
// them names an image that nobody here has.
import { beforeAll, expect, test } from 'vitest';
import {
  ENVOY_IMAGE,
  componentImages,
} from '../../../knative/try/cluster/knative/component-images.ts';
import { gatewaysIn } from '../../../knative/try/cluster/knative/knative-settings.ts';
import { moduleConfig } from '../../../knative/try/cluster/knative/module-config.ts';
import {
  type KnativeManifests,
  renderKnative,
} from '../../../knative/try/cluster/knative/render.ts';
import { partsSettings } from '../../../knative/try/local/parts/settings.ts';

/** Where Go may have to fetch the modules first. */
const FETCH_MS = 300_000;

let manifests: KnativeManifests;
let text: string;

beforeAll(async () => {
  const objects = await moduleConfig(partsSettings());
  manifests = renderKnative(objects, gatewaysIn('10.213.128.0/17'));
  text = JSON.stringify(manifests);
}, FETCH_MS);

test('no image is left that is yet to be built from Go', () => {
  expect(text).not.toContain('ko://');
});

test('every image of a pod is one that we make, and each that we make is named', () => {
  const ours = [...componentImages.map(({ image }) => image), ENVOY_IMAGE];
  const images = [...text.matchAll(/"image":"([^"]+)"/g)].map(([, image = '']) => image);
  expect(images.filter((image) => !ours.includes(image))).toEqual([]);
  expect(ours.filter((image) => !text.includes(JSON.stringify(image)))).toEqual([]);
});

test('every object of a kind of Knative has a definition among the first', () => {
  const defined = manifests.definitions.map(({ metadata }) => metadata.name);
  const own = manifests.own.map(({ apiVersion, kind }) => {
    const [group = ''] = apiVersion.split('/');
    return `${kind.toLowerCase()}s.${group}`;
  });
  expect(own).not.toEqual([]);
  expect(own.filter((name) => !defined.includes(name))).toEqual([]);
});

test('no name stands twice, so no object undoes another', () => {
  const all = Object.values(manifests).flat();
  const names = all.map(({ kind, metadata: { namespace, name } }) =>
    [kind, namespace, name].join(' '),
  );
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
