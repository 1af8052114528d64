// The real Helm, which leaves nothing in the home of whoever runs a test.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { resolvePart } from '../../knative/try/local/parts/resolve.ts';
import type { Manifest } from '../../shared/kube/objects.ts';

export interface Told {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

const OUTPUT_BYTES_MAX = 20_000_000;

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
  return async (...args) => {
    const helm = await resolvePart('helm');
    return new Promise((resolve) => {
      const options = { env, maxBuffer: OUTPUT_BYTES_MAX };
      const child = execFile(helm, args, options, (_error, out, err) =>
        resolve({ status: child.exitCode, out, err }),
      );
    });
  };
}

export const objectsIn = (text: string): readonly Manifest[] =>
  [...parseAllDocuments(text, { version: '1.1' })].map((document) => document.toJS() as Manifest);
