// The real Helm, which leaves nothing in the home of whoever runs a test.
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { resolvePart } from '../../knative/try/local/parts/resolve.ts';
import type { Manifest } from '../../shared/kube/objects.ts';
import { runProgram, type Told } from './run-program.ts';

export type Helm = (...args: readonly string[]) => Promise<Told>;

/** `dir` takes what Helm keeps. Without a kubeconfig it speaks with no cluster. */
export function helmIn(dir: string, kubeconfig = join(dir, 'none')): Helm {
  const env = {
    HELM_CACHE_HOME: dir,
    HELM_CONFIG_HOME: dir,
    HELM_DATA_HOME: dir,
    // Its client keeps what kinds there are in .kube of it.
    HOME: dir,
    KUBECONFIG: kubeconfig,
  };
  return async (...args) => runProgram(await resolvePart('helm'), args, { env });
}

export const objectsIn = (text: string): readonly Manifest[] =>
  [...parseAllDocuments(text, { version: '1.1' })].map((document) => document.toJS() as Manifest);
