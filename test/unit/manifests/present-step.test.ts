// The step at which a definition is: by its versions, and not by what somebody says.
import { expect, test } from 'vitest';
import { presentStep } from '../../../knative/try/local/timeline/present-step.ts';

const former = { name: 'v1alpha1', served: true, storage: true };
const later = { name: 'v1beta1', served: true, storage: true };
const stored = { ...former, storage: false };

test.each([
  ['crds', [former]],
  ['1-served', [former, { ...later, storage: false }]],
  ['2-stored', [stored, later]],
  ['3-deprecated', [{ ...stored, deprecated: true }, later]],
  ['4-unserved', [{ ...stored, deprecated: true, served: false }, later]],
  ['5-removed', [later]],
])('%s', (step, versions) => {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'natsclusters.ballast.dev', uid: 'u', resourceVersion: '1' },
    spec: { versions },
  };
  expect(presentStep(definition)).toBe(step);
});
