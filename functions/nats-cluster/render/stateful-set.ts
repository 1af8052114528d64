// The StatefulSet of a cluster. A changed template restarts no pod, because roll.ts decides which
// server is next. Pure.
import type { AccessMode } from '../../../shared/api/servers.ts';
import { hashOf } from '../../../shared/hash.ts';
import { claimTemplateOf } from '../../../shared/stateful/claim-template.ts';
import {
  CONTAINER_BOUNDS,
  goMemoryLimit,
  POD_BOUNDS,
  placementOf,
  statefulSetOf,
} from '../../../shared/stateful/pod-spec.ts';
import { CLAIM, CLIENT_PORT, type Cluster, headlessName, ROUTE_PORT } from '../cluster.ts';
import {
  CONFIG_DIR,
  CONFIG_KEY,
  CONFIG_SUFFIX,
  type ConfigObject,
  DATA_DIR,
  PID_FILE,
  restartOnly,
  RUN_DIR,
} from './config.ts';
import { labelsOf, selectorOf } from './labels.ts';

/** Time to end after the last client is gone. */
const END_SLACK_SECONDS = 20;
const PROBE_SECONDS = 5;
/** Asked at once and then every second: a rollout waits for each server in turn. */
const START_PROBE_SECONDS = 1;
/**
 * A server reads its streams when it starts, which has taken half an hour. The limit is the same
 * for all sizes, so that growing a claim restarts nobody.
 */
const START_SECONDS_MAX = 3_600;

const probe = (question: string, failureThreshold: number, periodSeconds = PROBE_SECONDS) => ({
  httpGet: { path: `/healthz?${question}=true`, port: 'monitor' },
  periodSeconds,
  timeoutSeconds: PROBE_SECONDS,
  failureThreshold,
});

/**
 * Probes ask for the server's own health alone: one that asks for its streams too would kill a
 * server because another one lacks them. The streams are checked before each step.
 */
const PROBES = {
  startupProbe: probe(
    'js-enabled-only',
    START_SECONDS_MAX / START_PROBE_SECONDS,
    START_PROBE_SECONDS,
  ),
  readinessProbe: probe('js-server-only', 2),
  livenessProbe: probe('js-enabled-only', 6),
};

/** Properties that an existing StatefulSet keeps. */
export interface Shape {
  /** How many servers; the spec may want others. */
  readonly size: number;
  readonly accessMode: AccessMode;
}

export function statefulSetSpec(
  cluster: Cluster,
  config: ConfigObject,
  { size, accessMode }: Shape,
): { readonly spec: Readonly<Record<string, unknown>>; readonly templateHash: string } {
  const pod = podSpec(cluster);
  const templateHash = hashOf({ pod, config: restartOnly(config) });
  const spec = statefulSetOf({
    replicas: size,
    serviceName: headlessName(cluster),
    selector: selectorOf(cluster),
    labels: labelsOf(cluster),
    templateHash,
    pod,
    ...claimsOf(cluster, accessMode),
  });
  return { spec, templateHash };
}

function claimsOf({ spec: { jetStream }, ...cluster }: Cluster, accessMode: AccessMode) {
  const { fileStorage } = jetStream;
  if (fileStorage === undefined) return {};
  const { size, storageClassName } = fileStorage;
  const shape = { name: CLAIM, labels: labelsOf(cluster), size, storageClassName, accessMode };
  return { volumeClaimTemplates: [claimTemplateOf(shape)] };
}

function podSpec(cluster: Cluster) {
  const { spec, name } = cluster;
  return {
    ...POD_BOUNDS,
    terminationGracePeriodSeconds: spec.lameDuck.durationSeconds + END_SLACK_SECONDS,
    ...placementOf(selectorOf(cluster), spec.spread),
    containers: [container(cluster)],
    volumes: [
      { name: 'config', secret: { secretName: `${name}${CONFIG_SUFFIX}` } },
      { name: 'run', emptyDir: {} },
      ...(spec.jetStream.fileStorage === undefined ? [{ name: CLAIM, emptyDir: {} }] : []),
    ],
  };
}

function container({ spec }: Cluster) {
  const { image, monitoringPort, resources } = spec;
  return {
    name: 'nats',
    image,
    command: ['nats-server'],
    args: ['--config', `${CONFIG_DIR}/${CONFIG_KEY}`],
    ports: [
      containerPort('client', CLIENT_PORT),
      containerPort('route', ROUTE_PORT),
      containerPort('monitor', monitoringPort),
    ],
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ...goMemoryLimit(resources.limits),
    ],
    volumeMounts: [
      { name: 'config', mountPath: CONFIG_DIR, readOnly: true },
      { name: 'run', mountPath: RUN_DIR },
      { name: CLAIM, mountPath: DATA_DIR },
    ],
    ...PROBES,
    // The server ignores SIGTERM while it sends its clients away.
    lifecycle: { preStop: { exec: { command: ['nats-server', '--signal', `ldm=${PID_FILE}`] } } },
    resources,
    ...CONTAINER_BOUNDS,
  };
}

const containerPort = (name: string, port: number) => ({
  name,
  containerPort: port,
  protocol: 'TCP',
});
