// The wiring of a start at a step: the definitions are left to the step, and no event of our own
// kinds waits for a version that is not served there.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadWiring } from '../../../knative/try/local/manifests/load.ts';
import { atStep } from '../../../knative/try/local/timeline/at-step.ts';
import { STEPS } from '../../../knative/try/local/timeline/step-names.ts';

const wiring = await loadWiring(fileURLToPath(new URL('../../../knative', import.meta.url)));

test.each(STEPS)('%s: whatever is watched and applied is served there', (step) => {
  const there = atStep(wiring, step);
  const version = step === 'crds' ? 'v1alpha1' : 'v1beta1';
  const watched = there.sources.flatMap(({ resources }) => resources);
  const own = [...watched, ...there.own.map(({ object }) => object)].filter(({ apiVersion }) =>
    apiVersion.startsWith('ballast.dev/'),
  );
  expect(new Set(own.map(({ apiVersion }) => apiVersion))).toEqual(
    new Set([`ballast.dev/${version}`]),
  );
  expect(there.own.map(({ object }) => object.metadata.name)).toEqual(['cluster']);
  const definitions = 9;
  expect(there.objects).toHaveLength(wiring.objects.length - there.own.length - definitions);
  expect(watched).toHaveLength(wiring.sources.flatMap(({ resources }) => resources).length);
});
