// KWOK plays every node and the life of every pod bound to one, by the stages in
// ../population/stages.yaml; it needs the rights of a cluster admin.
import { fileURLToPath } from 'node:url';
import type { PartSpec } from '../process/part.ts';
import { answers } from './probe.ts';

export interface KwokOptions {
  readonly binary: string;
  readonly dir: string;
  readonly port: number;
  readonly kubeconfigPath: string;
}

const STAGES_PATH = fileURLToPath(new URL('../population/stages.yaml', import.meta.url));

export function kwokSpec({ binary, dir, port, kubeconfigPath }: KwokOptions): PartSpec {
  const url = `http://127.0.0.1:${port}`;
  return {
    name: 'kwok',
    command: binary,
    args: [
      `--kubeconfig=${kubeconfigPath}`,
      `--config=${STAGES_PATH}`,
      '--manage-all-nodes=true',
      `--server-address=127.0.0.1:${port}`,
      `--node-port=${port}`,
      '--cidr=10.244.0.0/16',
      '--node-lease-duration-seconds=40',
    ],
    // It looks for ~/.kwok and would take a person's own settings from there.
    env: { HOME: dir },
    url,
    ready: (signal) => answers(`${url}/healthz`, signal),
  };
}
