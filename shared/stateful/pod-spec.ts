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

/** In units of the scheduler's, which takes 1 to 100: nothing else is preferred by our pods. */
const PREFERRED_WEIGHT = 100;

/**
 * Servers that share no node, if they can or in any case, and zones only if they can. The
 * scheduler scores no node that lacks one of the labels of its spread constraints, and most
 * clusters have no zones: hostnames among the constraints would count for nothing there.
 */
export function placementOf(selector: Labels, spread: 'Preferred' | 'Required') {
  const labelSelector = { matchLabels: selector };
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector };
  const preferred = [{ weight: PREFERRED_WEIGHT, podAffinityTerm: term }];
  const zones = {
    maxSkew: 1,
    topologyKey: 'topology.kubernetes.io/zone',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector,
  };
  return {
    affinity: {
      podAntiAffinity:
        spread === 'Required'
          ? { requiredDuringSchedulingIgnoredDuringExecution: [term] }
          : { preferredDuringSchedulingIgnoredDuringExecution: preferred },
    },
    topologySpreadConstraints: [zones],
  };
}

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
