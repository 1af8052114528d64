// The parts of a pod template and of a StatefulSet that are the same whatever the servers serve:
// who they run as, where they run, and that nothing but the function restarts or empties them.
// Pure.
import type { Amounts } from '../api/servers.ts';
import { quantityOf } from '../kube/quantity.ts';
import { TEMPLATE_ANNOTATION } from './pods.ts';

type Labels = Readonly<Record<string, string>>;

/** Any user but root will do. */
const UID = 1_000;

/** No token of the API server, no root, and files that the servers' group may write. */
export const POD_BOUNDS = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: UID,
    runAsGroup: UID,
    fsGroup: UID,
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
  },
} as const;

export const CONTAINER_BOUNDS = {
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
} as const;

/**
 * With fewer nodes than this the scheduler takes the emptiest one for empty, so that no node gets a
 * second server. Without it three would go onto two nodes: as long as each has one, two differ from
 * one by no more than one (tried on 1.36).
 */
const DOMAINS_MIN = 1_000;

/** Nodes may be required to differ; zones only should. */
export const spreadOver = (selector: Labels, isRequired: boolean) => [
  spread(selector, 'kubernetes.io/hostname', isRequired),
  spread(selector, 'topology.kubernetes.io/zone', false),
];

const spread = (selector: Labels, topologyKey: string, isRequired: boolean) => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable: isRequired ? 'DoNotSchedule' : 'ScheduleAnyway',
  // The API server takes it only where it is required.
  ...(isRequired ? { minDomains: DOMAINS_MIN } : {}),
  labelSelector: { matchLabels: selector },
});

/**
 * Share of the memory limit; the rest is for stacks, and for memory that Go's collector counts
 * late.
 */
const GO_MEMORY_SHARE = 0.8;

/** Environment of a server in Go, which otherwise knows no limit; `takenBytes` is of other use. */
export function goMemoryLimit(limits: Amounts | undefined, takenBytes = 0) {
  if (limits?.memory === undefined) return [];
  const bytes = Math.floor((quantityOf(limits.memory) - takenBytes) * GO_MEMORY_SHARE);
  return [{ name: 'GOMEMLIMIT', value: String(bytes) }];
}

export interface SetOfServers {
  readonly replicas: number;
  /** The headless Service that gives servers their names. */
  readonly serviceName: string;
  readonly selector: Labels;
  readonly labels: Labels;
  readonly templateHash: string;
  readonly pod: Readonly<Record<string, unknown>>;
  /** None for servers that keep nothing. */
  readonly volumeClaimTemplates?: readonly unknown[];
}

/**
 * All servers start at once, because none may be ready without the others. A changed template
 * restarts no pod, and no claim goes with a server: both are steps of the function.
 */
export function statefulSetOf(set: SetOfServers): Readonly<Record<string, unknown>> {
  const { replicas, serviceName, selector, labels, templateHash, pod, ...claims } = set;
  return {
    replicas,
    serviceName,
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'OnDelete' },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    selector: { matchLabels: selector },
    template: {
      metadata: { labels, annotations: { [TEMPLATE_ANNOTATION]: templateHash } },
      spec: pod,
    },
    ...claims,
  };
}
