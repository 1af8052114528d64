// A pod as the kubelet of the tests knows it, and how often it is probed.
import type { Container } from './container.ts';
import type { PodSpec } from './pod-spec.ts';

/** Changes of objects are looked at when they come; a process that ends is found by a look. */
export const LOOK_EVERY_MS = 200;
/** A server that is ready seldom stops to be while it runs. */
const PROBE_READY_EVERY_MS = 1_000;

export interface PodHere {
  readonly uid: string;
  readonly key: string;
  readonly ip: string;
  readonly spec: PodSpec;
  readonly container: Container;
  /** The newest version that is mounted, by volume. */
  readonly secrets: Map<string, number>;
  isReady: boolean;
  /** Probes in a row that it has failed since it was ready. */
  misses: number;
  /** Before it there is no need to ask whether it is still ready. */
  probeAtMs: number;
  isEnding: boolean;
  /** Somebody wants it to stay down. */
  isHeld: boolean;
}

export const newPod = (
  pod: Pick<PodHere, 'uid' | 'key' | 'ip' | 'spec' | 'container'>,
): PodHere => ({
  ...pod,
  secrets: new Map(),
  isReady: false,
  misses: 0,
  probeAtMs: 0,
  isEnding: false,
  isHeld: false,
});

interface Probing {
  readonly everyMs: number;
  /** Probes in a row that a pod fails before it is no longer ready. */
  readonly missesMax: number;
}

/**
 * Often, so that tests are fast; or as the pod says, where time is measured. A kubelet asks a
 * container that has started whether it is ready without waiting for a turn.
 */
export function probing(
  { spec, isReady }: Pick<PodHere, 'spec' | 'isReady'>,
  isPunctual: boolean,
): Probing {
  if (!isPunctual) return { everyMs: isReady ? PROBE_READY_EVERY_MS : LOOK_EVERY_MS, missesMax: 1 };
  const { readinessProbe, startupProbe = readinessProbe } = spec.containers[0];
  const { periodSeconds } = isReady ? readinessProbe : startupProbe;
  return { everyMs: periodSeconds * 1_000, missesMax: readinessProbe.failureThreshold };
}
