// The steps of our own kinds (docs/upgrading.md) as they are shipped, led to a conversion that is a
// process of this machine. There are no pods here: the Service is another name of localhost, and
// the definitions name the port.
import { join, resolve } from 'node:path';
import { isRecord } from '../../../../shared/kube/json.ts';
import type { KubeObject, Manifest } from '../../../../shared/kube/objects.ts';
import { kustomized } from '../manifests/kustomized.ts';
import { FIRST, type Step } from './step-names.ts';

const KNATIVE = resolve(import.meta.dirname, '../../..');

export const renderStep = (step: Step): Promise<readonly Manifest[]> =>
  kustomized(join(KNATIVE, step === FIRST ? FIRST : join('overlays/timeline', step)));

/** The function with its account and its rights, of which a step is made too. */
export const renderConversion = (): Promise<readonly Manifest[]> =>
  kustomized(join(KNATIVE, 'overlays/conversion'));

/** The API server finds the conversion at this port of the machine. */
export function ledTo(port: number, object: Manifest): Manifest {
  if (object.kind === 'Service') {
    const ports = [{ name: 'https', port }];
    return { ...object, spec: { type: 'ExternalName', externalName: 'localhost', ports } };
  }
  const copy = structuredClone(object);
  const { service } = webhookOf(copy);
  if (isRecord(service)) service['port'] = port;
  return copy;
}

/** The `clientConfig` of a definition; without fields where nobody converts. */
export function webhookOf(definition: KubeObject | Manifest): Record<string, unknown> {
  let value: unknown = definition;
  for (const name of ['spec', 'conversion', 'webhook', 'clientConfig']) {
    value = isRecord(value) ? value[name] : undefined;
  }
  return isRecord(value) ? value : {};
}
