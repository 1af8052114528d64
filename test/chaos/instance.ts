// One instance of the function in a process of its own, as it ships: it can be killed, paused and
// cut off without its neighbours noticing.
import { bundleCommand, functionSpec } from '../../knative/try/local/cluster/function-part.ts';
import type { ServiceAccounts } from '../../knative/try/local/cluster/service-accounts.ts';
import type { FunctionWiring } from '../../knative/try/local/manifests/wiring.ts';
import type { Plane } from '../../knative/try/local/plane/plane.ts';
import type { Part } from '../../knative/try/local/process/part.ts';
import { freePort } from '../../knative/try/local/process/ports.ts';

/** Below the relay's patience; what hangs in a fault ends soon after it. */
const DEADLINE_SECONDS = '6';

export interface InstanceDeps {
  readonly plane: Plane;
  /** Where its bundle is. */
  readonly bundleDir: string;
  readonly accounts: ServiceAccounts;
  readonly wiring: FunctionWiring;
  /** As where senders show tokens; otherwise as it ships without them. */
  readonly takesEventsAtTheirWord: boolean;
}

export async function addInstance(
  { plane, bundleDir, accounts, wiring, takesEventsAtTheirWord }: InstanceDeps,
  name: string,
): Promise<Part> {
  const client = `function/${name}`;
  const { namespace, serviceAccountName } = wiring;
  const account = { namespace, name: serviceAccountName };
  const spec = functionSpec({
    name,
    command: bundleCommand(bundleDir),
    port: await freePort(),
    kubeconfigPath: await accounts.kubeconfigFor(client, account),
    env: {
      ...wiring.env,
      NATS_URL: await plane.urlFor(client, 'nats-server', 'metadata'),
      ...(takesEventsAtTheirWord ? { CONFIRM_EVENTS: 'false' } : {}),
      LOG_LEVEL: 'warn',
      REQUEST_DEADLINE_SECONDS: DEADLINE_SECONDS,
      DRAIN_MINIMUM_SECONDS: '0',
    },
  });
  return plane.add(spec);
}
