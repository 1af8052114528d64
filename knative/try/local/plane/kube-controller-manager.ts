// kube-controller-manager: with only the controllers that somebody asks for on a plane of fake
// nodes, with all of them in a whole cluster. No plane has it by itself: it is added to one that
// runs.
import { join } from 'node:path';
import { resolvePart } from '../parts/resolve.ts';
import type { Part, PartSpec } from '../process/part.ts';
import { freePort } from '../process/ports.ts';
import type { PlaneAddress } from './address.ts';
import type { Plane } from './plane.ts';
import { answers } from './probe.ts';

/** The part, and the certificate that it makes for itself. */
export const CONTROLLER_MANAGER = 'kube-controller-manager';

export interface ControllerManagerOptions {
  /** By the names that `--controllers` takes. */
  readonly controllers: readonly string[];
  readonly featureGates?: readonly string[];
  /** As whom; as cluster admin when absent. */
  readonly kubeconfigPath?: string;
  readonly moreFlags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export const addControllerManager = async (
  plane: Plane,
  options: ControllerManagerOptions,
): Promise<Part> => plane.add(await controllerManagerSpec(plane, options));

export async function controllerManagerSpec(
  plane: PlaneAddress,
  options: ControllerManagerOptions,
): Promise<PartSpec> {
  const { controllers, featureGates = [], moreFlags = [], env = {} } = options;
  const [command, port] = await Promise.all([resolvePart(CONTROLLER_MANAGER), freePort()]);
  const certDir = join(plane.dir, CONTROLLER_MANAGER);
  const url = `https://127.0.0.1:${port}`;
  return {
    name: CONTROLLER_MANAGER,
    command,
    args: [
      `--kubeconfig=${options.kubeconfigPath ?? plane.kubeconfigPath}`,
      `--controllers=${controllers.join(',')}`,
      `--feature-gates=${featureGates.map((gate) => `${gate}=true`).join(',')}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--cert-dir=${certDir}`,
      // It is alone, and an election would take seconds.
      '--leader-elect=false',
      ...moreFlags,
    ],
    env,
    url,
    ready: (signal) =>
      answers(`${url}/healthz`, signal, join(certDir, `${CONTROLLER_MANAGER}.crt`)),
  };
}
