// The function conversion as a part, as its Deployment says, with TLS on a port of this machine. It
// is ready as there: once it has a certificate to show, and the definitions have its authority.
import { isRecord, textOf } from '../../../../shared/kube/json.ts';
import type { Manifest } from '../../../../shared/kube/objects.ts';
import { type FunctionProcess, functionSpec } from '../cluster/function-part.ts';
import type { PartSpec } from '../process/part.ts';
import { showsCertificate } from './shows-certificate.ts';

export interface ConversionProcess extends Omit<FunctionProcess, 'name' | 'env'> {
  readonly deployment: Manifest;
  readonly tlsPort: number;
}

export function conversionPart({ deployment, tlsPort, ...how }: ConversionProcess): PartSpec {
  const env = {
    ...environmentOf(deployment),
    TLS_PORT: String(tlsPort),
    // No API server has to hear that it ends: it ends with it.
    DRAIN_MINIMUM_SECONDS: '0',
  };
  const spec = functionSpec({ ...how, name: deployment.metadata.name, env });
  return {
    ...spec,
    ready: async (signal) => (await spec.ready(signal)) && showsCertificate(tlsPort, signal),
  };
}

/** The variables of its one container. */
function environmentOf(deployment: Manifest): Record<string, string> {
  let value: unknown = deployment;
  for (const name of ['spec', 'template', 'spec', 'containers', '0', 'env']) {
    value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  }
  const entries = Array.isArray(value) ? value.filter(isRecord) : [];
  return Object.fromEntries(entries.map((one) => [textOf(one['name']), textOf(one['value'])]));
}
