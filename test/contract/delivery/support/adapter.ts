// Starts the real adapter for a source that a test makes up.
import type { ApiServerSourceWiring } from '../../../../knative/try/local/manifests/wiring.ts';
import { resolvePart } from '../../../../knative/try/local/parts/resolve.ts';
import { adapterPart } from '../../../../knative/try/local/plane/adapter.ts';
import type { PlaneAddress } from '../../../../knative/try/local/plane/address.ts';
import type { Part, PartSpec } from '../../../../knative/try/local/process/part.ts';
import { freePort } from '../../../../knative/try/local/process/ports.ts';
import { startOwnPart } from '../../../lanes/own-part.ts';

export function sourceOf(
  name: string,
  changes: Partial<ApiServerSourceWiring> = {},
): ApiServerSourceWiring {
  return {
    file: 'test',
    name,
    namespace: 'default',
    mode: 'Reference',
    resources: [{ apiVersion: 'v1', kind: 'ConfigMap', labelSelector: '' }],
    extensions: {},
    serviceAccountName: 'default',
    sink: { kind: 'uri', uri: 'http://127.0.0.1' },
    ...changes,
  };
}

export async function startAdapter(
  plane: PlaneAddress,
  source: ApiServerSourceWiring,
  sinkUrl: string,
  change: (spec: PartSpec) => PartSpec = (spec) => spec,
): Promise<Part> {
  return startOwnPart(plane, change(await adapterSpec(plane, source, sinkUrl)));
}

export async function adapterSpec(
  plane: PlaneAddress,
  source: ApiServerSourceWiring,
  sinkUrl: string,
): Promise<PartSpec> {
  return adapterPart(source, {
    binary: await resolvePart('apiserver_receive_adapter'),
    kubeconfigPath: plane.kubeconfigPath,
    sinkUrl,
    profilingPort: await freePort(),
  });
}
