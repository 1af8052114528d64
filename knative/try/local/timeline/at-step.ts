// The wiring of the manifests for a start at a step: the definitions come from the step, and
// whatever names a version of our own kinds names the one that is served at all steps but 0.
import { KINDS } from '../../../../shared/kube/own-kinds/kinds.ts';
import { convertObject } from '../../../../shared/kube/own-kinds/convert.ts';
import { apiVersionOf, LATER, WRITTEN } from '../../../../shared/kube/own-kinds/versions.ts';
import type { ClusterObject, Wiring } from '../manifests/wiring.ts';
import { FIRST, type Step } from './step-names.ts';

export interface WiringAtStep extends Wiring {
  /** Objects of our own kinds, which are applied once they can be converted. */
  readonly own: readonly ClusterObject[];
}

const FROM = apiVersionOf(WRITTEN);
const TO = apiVersionOf(LATER);

export function atStep(wiring: Wiring, step: Step): WiringAtStep {
  const isOwn = ({ object }: ClusterObject): boolean => object.apiVersion === FROM;
  const isDefinition = ({ object }: ClusterObject): boolean =>
    object.kind === 'CustomResourceDefinition';
  const own = wiring.objects.filter(isOwn);
  const objects = wiring.objects.filter((one) => !isOwn(one) && !isDefinition(one));
  if (step === FIRST) return { ...wiring, objects, own };
  const sources = wiring.sources.map((source) => ({
    ...source,
    resources: source.resources.map((resource) =>
      resource.apiVersion === FROM ? { ...resource, apiVersion: TO } : resource,
    ),
  }));
  return { ...wiring, objects, own: own.map(inLater), sources };
}

function inLater({ file, object }: ClusterObject): ClusterObject {
  const converted = convertObject(object, KINDS.get(object.kind) ?? [], WRITTEN, LATER);
  // Nothing of its metadata changes but annotations.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { file, object: converted as ClusterObject['object'] };
}
