// Makes the deployments of Knative fit for two cores that do other things too: small requests, no
// limits that throttle a start, probes that see readiness early, cost little afterwards and forgive
// a slow machine.
import type { Manifest } from '../../../../shared/kube/objects.ts';

interface Probe {
  readonly initialDelaySeconds?: number;
  readonly [field: string]: unknown;
}

interface Container {
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly [field: string]: unknown;
}

interface PodSpec {
  readonly containers: readonly Container[];
  readonly [field: string]: unknown;
}

interface Deployment extends Manifest {
  readonly spec: {
    readonly template: { readonly spec: PodSpec; readonly [field: string]: unknown };
    readonly [field: string]: unknown;
  };
}

/** The scheduler adds these up; the processes take as much as they need. */
const REQUESTS = { cpu: '10m', memory: '32Mi' } as const;

/** Asked often while it starts, a pod is seen ready within a second of being so. */
const STARTUP = { periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 600 } as const;

/**
 * Afterwards each question costs the kubelet and the pod some milliseconds, many of them a TLS
 * handshake, and the pods of Knative are many.
 */
const READINESS_EVERY_SECONDS = 10;

/** A liveness probe is for what hangs: a minute of silence. */
const LIVENESS = { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 } as const;

/** Those who leave drain in seconds here; the minutes of a busy cluster would hold up `down`. */
const GRACE_SECONDS = 10;

export function shrunk(object: Manifest): Manifest {
  if (!isDeployment(object)) return object;
  const { spec } = object;
  const { template } = spec;
  const pod: PodSpec = {
    ...template.spec,
    containers: template.spec.containers.map(smallContainer),
    terminationGracePeriodSeconds: GRACE_SECONDS,
  };
  return { ...object, spec: { ...spec, template: { ...template, spec: pod } } };
}

function smallContainer({ lifecycle: _shell, ...container }: Container): Container {
  return {
    // Kourier's hook before the end calls a shell and curl, which our image of Envoy does not have.
    ...container,
    resources: { requests: REQUESTS },
    ...probesOf(container),
  };
}

/** None but the first is asked before that one was answered, so none has to wait by itself. */
function probesOf({ readinessProbe, livenessProbe }: Container): Partial<Container> {
  const readiness = readinessProbe && withoutDelay(readinessProbe);
  return {
    ...(readiness && {
      startupProbe: { ...readiness, ...STARTUP },
      readinessProbe: { ...readiness, periodSeconds: READINESS_EVERY_SECONDS },
    }),
    ...(livenessProbe && { livenessProbe: { ...withoutDelay(livenessProbe), ...LIVENESS } }),
  };
}

function withoutDelay({ initialDelaySeconds: _delay, ...probe }: Probe): Probe {
  return probe;
}

function isDeployment(object: Manifest): object is Deployment {
  return object.kind === 'Deployment';
}
