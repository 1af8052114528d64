// Compares parts as they were read with how they are rendered, and keeps little of them: anybody
// with rights in the namespace may write more than a megabyte into each. Pure.
import { isRecord } from '../../shared/kube/json.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { quantityOf } from '../../shared/kube/quantity.ts';
import { storageIn } from '../../shared/stateful/claim-template.ts';
import { HASH_ANNOTATION, type PartKey, type RenderedPart } from './render/manifests.ts';
import type { FoundPart } from './state.ts';

export function foundPartOf(key: PartKey, object: KubeObject): FoundPart {
  const { uid, resourceVersion } = object.metadata;
  if (key !== 'statefulSet') return { uid, resourceVersion };
  const { spec } = object;
  const replicas = isRecord(spec) ? spec['replicas'] : undefined;
  return {
    uid,
    resourceVersion,
    ...(typeof replicas === 'number' ? { replicas } : {}),
    storage: storageIn(object),
  };
}

export function isAsRendered({ manifest }: RenderedPart, found: KubeObject | null): boolean {
  if (found === null) return false;
  const wanted = manifest.metadata['annotations'];
  const hash = isRecord(wanted) ? wanted[HASH_ANNOTATION] : undefined;
  if (found.metadata.annotations?.[HASH_ANNOTATION] !== hash) return false;
  const { metadata: _, ...body } = manifest;
  return holds(found, body);
}

/** True when every wanted field has its value; fields that others added do not count. */
function holds(found: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(found) || found.length !== wanted.length) return false;
    return wanted.every((item, index) => holds(found[index], item));
  }
  if (isRecord(wanted)) {
    if (!isRecord(found)) return false;
    return Object.entries(wanted).every(([name, value]) => holds(found[name], value));
  }
  return found === wanted || isSameAmount(found, wanted);
}

/** The API server writes 1024Mi as 1Gi. */
function isSameAmount(found: unknown, wanted: unknown): boolean {
  if (typeof found !== 'string' || typeof wanted !== 'string') return false;
  const amount = quantityOf(wanted);
  return Number.isFinite(amount) && quantityOf(found) === amount;
}
