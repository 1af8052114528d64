// Defines a function that keeps objects with servers: it wakes on their changes and on the sweep,
// and hands both to its reconciler. The kind of servers is its own matter.
import type { Clock } from '../clock.ts';
import { defineFunction, type FunctionDefinition } from '../function/define.ts';
import type { ConfigShape } from '../function/config.ts';
import { KUBECONFIG } from '../function/kube-config.ts';
import type { Metrics } from '../function/metrics.ts';
import { secondsAsMs } from '../function/parsers.ts';
import { CHANGES, SWEEP } from '../function/sources.ts';
import { SWEEP_CONFIG, type SweepConfig } from '../function/sweep-config.ts';
import { type KubeClient, type KubeOptions, openKube } from '../kube/client.ts';
import { readJson } from '../kube/read-json.ts';
import type { StatefulDeps, StatefulOptions } from './deps.ts';
import { type OwnerKind, OwnerVersions } from './owner-versions.ts';
import type { Reconciler, ReconcilerDeps } from './reconciler.ts';

export interface StatefulConfig extends SweepConfig {
  readonly kubeconfigPath: string | undefined;
  readonly workMs: number;
}

const CONFIG: ConfigShape<StatefulConfig> = {
  kubeconfigPath: KUBECONFIG,
  workMs: {
    env: 'WORK_SECONDS',
    meaning: 'how long one request goes on before it leaves the rest to the next',
    parse: secondsAsMs(0.05, 300),
    // Below the deadline of a request by more than an observation takes while servers are silent.
    fallback: 15_000,
  },
  ...SWEEP_CONFIG,
};

/** Carries out what an event or the sweep asks for. */
type Woken<Deps extends ReconcilerDeps> = Pick<Reconciler<Deps>, 'sweepAll' | 'takeChange'>;

interface StatefulFunction<Deps extends ReconcilerDeps, More extends object> {
  readonly name: string;
  /** One sentence. */
  readonly purpose: string;
  readonly fieldManager: string;
  /** The Lease that each sweep renews. */
  readonly lease: string;
  /** The sweep alone wakes it; and where there is none of its objects it writes nothing at all. */
  readonly isQuiet?: boolean;
  /** The kind that owns its parts: these name it in the version that is stored. */
  readonly owner: OwnerKind;
  /** Its parts stay as long as their owner, and follow when another version is stored. */
  readonly hasLastingParts?: boolean;
  /** Settings of its own. */
  readonly config?: ConfigShape<More>;
  readonly open: (options: StatefulOptions, more: More, metrics: Metrics) => Deps;
  /** Imports the reconciler with the first event, so that it does not delay readiness. */
  readonly load: () => Promise<{ readonly reconciler: Woken<Deps> }>;
}

export const defineStateful = <
  Deps extends ReconcilerDeps & Pick<StatefulDeps<never>, 'close'>,
  More extends object = object,
>({
  name,
  purpose,
  fieldManager,
  lease,
  isQuiet = false,
  owner,
  hasLastingParts = false,
  config,
  open,
  load,
}: StatefulFunction<Deps, More>): FunctionDefinition<StatefulConfig & More, Deps> =>
  defineFunction<StatefulConfig & More, Deps>({
    name,
    purpose,
    wakesOn: isQuiet ? [SWEEP] : [...CHANGES, SWEEP],
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a shape for each key of both
    config: { ...CONFIG, ...config } as ConfigShape<StatefulConfig & More>,
    conflicts: timeConflicts,
    open: (all, { clock, log, metrics }) => {
      const { kubeconfigPath, workMs, leaseNamespace, sweepSeconds } = all;
      const how = { kubeconfigPath, userAgent: fieldManager, fieldManager, log };
      const owners = new OwnerVersions(owner);
      const kube = openWith(owners, how, { clock, hasLastingParts });
      const options = {
        kube,
        clock,
        owners: hasLastingParts ? owners : undefined,
        workMs,
        lease: { namespace: leaseNamespace, name: lease, sweepSeconds, isForObjects: isQuiet },
      };
      return open(options, all, metrics);
    },
    readApiServer: readJson,
    close: (deps) => deps.close(),
    handle: async (event, context) => {
      const { reconciler } = await load();
      if (event.type === SWEEP) await reconciler.sweepAll(context);
      else await reconciler.takeChange(event, context);
      return undefined;
    },
  });

/** Whatever it makes and reads passes by those who know in which version parts name their owner. */
function openWith(
  owners: OwnerVersions,
  how: KubeOptions,
  { clock, hasLastingParts }: { readonly clock: Clock; readonly hasLastingParts: boolean },
): KubeClient {
  const kube: KubeClient = openKube({
    ...how,
    onWrite: (manifest, { signal }, ref) => owners.named({ kube, clock, signal }, manifest, ref),
    ...(hasLastingParts && { onRead: (ref, object) => owners.note(ref, object) }),
  });
  return kube;
}

/** A request that is cut off in the middle writes no status: nobody would learn why it waits. */
function timeConflicts(
  { workMs }: { readonly workMs: number },
  { deadlineMs }: { readonly deadlineMs: number },
): readonly string[] {
  if (workMs < deadlineMs) return [];
  return [
    `WORK_SECONDS is ${workMs / 1_000} and REQUEST_DEADLINE_SECONDS ${deadlineMs / 1_000}, so ` +
      'that requests would be given up in the middle of their work: set ' +
      'REQUEST_DEADLINE_SECONDS higher, by the time of an observation while servers are silent',
  ];
}
