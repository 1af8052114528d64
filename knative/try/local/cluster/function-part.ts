// A function as a part: its shipped bundle in a process of its own, with the environment that
// Knative Serving and its manifest would give it.
import { join } from 'node:path';
import { answers } from '../plane/probe.ts';
import type { PartSpec } from '../process/part.ts';

export interface FunctionProcess {
  /** The Knative Service's name. */
  readonly name: string;
  readonly command: readonly string[];
  readonly port: number;
  readonly kubeconfigPath: string;
  readonly env: Readonly<Record<string, string>>;
}

export function functionSpec({
  name,
  command,
  port,
  kubeconfigPath,
  env,
}: FunctionProcess): PartSpec {
  const url = `http://127.0.0.1:${port}`;
  return {
    name: `function/${name}`,
    command: process.execPath,
    args: command,
    env: {
      ...env,
      PORT: String(port),
      LISTEN_HOST: '127.0.0.1',
      KUBECONFIG: kubeconfigPath,
      K_SERVICE: name,
      K_CONFIGURATION: name,
      K_REVISION: `${name}-local`,
    },
    url,
    ready: (signal) => answers(`${url}/health/readiness`, signal),
  };
}

export const bundleCommand = (dir: string): readonly string[] => [join(dir, 'index.js')];

/** Restarts whenever one of its sources changes. */
export const sourceCommand = (root: string, name: string): readonly string[] => [
  '--watch',
  '--watch-preserve-output',
  join(root, 'shared/function/run.ts'),
  join(root, 'functions', name),
];
