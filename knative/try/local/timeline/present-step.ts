// The step at which a definition of our own kinds is, by the versions that it has. Pure.
import { isRecord } from '../../../../shared/kube/json.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import { LATER, WRITTEN } from '../../../../shared/kube/own-kinds/versions.ts';
import type { Step } from './step-names.ts';

export function presentStep({ spec }: KubeObject): Step {
  const versions = isRecord(spec) && Array.isArray(spec['versions']) ? spec['versions'] : [];
  const named = (name: string) => versions.filter(isRecord).find((one) => one['name'] === name);
  const [former, later] = [named(WRITTEN), named(LATER)];
  if (later === undefined) return 'crds';
  if (former === undefined) return '5-removed';
  if (former['served'] !== true) return '4-unserved';
  if (former['deprecated'] === true) return '3-deprecated';
  return later['storage'] === true ? '2-stored' : '1-served';
}
