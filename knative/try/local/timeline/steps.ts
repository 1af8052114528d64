// The steps of our own kinds (docs/upgrading.md) as they are shipped, led to a conversion that is a
// process of this machine. There are no pods here: the Service is another name of localhost, and
// the definitions name the port.
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { isRecord } from '../../../../shared/kube/json.ts';
import type { KubeObject, Manifest } from '../../../../shared/kube/objects.ts';
import { resolvePart } from '../parts/resolve.ts';
import { FIRST, type Step } from './step-names.ts';

const KNATIVE = resolve(import.meta.dirname, '../../..');
const MEGABYTES = 1_000_000;

/** As kubectl renders it. */
export async function renderStep(step: Step): Promise<readonly Manifest[]> {
  const folder = step === FIRST ? FIRST : join('overlays/timeline', step);
  return renderFolder(folder);
}

/** The function with its account and its rights, of which a step is made too. */
export const renderConversion = (): Promise<readonly Manifest[]> =>
  renderFolder('overlays/conversion');

async function renderFolder(folder: string): Promise<readonly Manifest[]> {
  const kubectl = await resolvePart('kubectl');
  const options = { maxBuffer: 10 * MEGABYTES };
  const args = ['kustomize', join(KNATIVE, folder)];
  const { stdout } = await promisify(execFile)(kubectl, args, options);
  // The API server judges what is in them.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return [...parseAllDocuments(stdout)].map((document) => document.toJS() as Manifest);
}

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
