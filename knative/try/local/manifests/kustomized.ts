// The manifests of a folder with a kustomization, as kubectl renders them.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../../../shared/kube/objects.ts';
import { resolvePart } from '../parts/resolve.ts';

/** All definitions with every version are a megabyte; whatever is larger is none of ours. */
const OUTPUT_BYTES_MAX = 20_000_000;

export async function kustomized(folder: string): Promise<readonly Manifest[]> {
  const kubectl = await resolvePart('kubectl');
  const options = { maxBuffer: OUTPUT_BYTES_MAX };
  const { stdout } = await promisify(execFile)(kubectl, ['kustomize', folder], options);
  return [...parseAllDocuments(stdout)].map((document): Manifest => document.toJS());
}
