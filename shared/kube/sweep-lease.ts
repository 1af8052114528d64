// The Lease that each sweep of a function renews at its end. Without it nobody could tell that a
// function is dead, since it cannot report that itself. It costs one read and one write for each
// sweep, for one object or a thousand.
import { hostname } from 'node:os';
import type { KubeClient } from './client.ts';
import { isRecord } from './json.ts';
import { apiVersionOf, type KubeObject, type ResourceRef } from './objects.ts';
import { microTime, timestamp } from './timestamp.ts';

export const LEASES: ResourceRef = {
  group: 'coordination.k8s.io',
  version: 'v1',
  resource: 'leases',
};

export interface SweepLease {
  readonly namespace: string;
  readonly name: string;
  /** How often the sweep comes. */
  readonly sweepSeconds: number;
  /** A sweep that finds no object renews nothing: there is none of which it would tell. */
  readonly isForObjects?: boolean;
}

export interface SweepLeaseState {
  /** Undefined where there is no Lease. */
  readonly renewTime: string | undefined;
  /** How long a renewal counts. */
  readonly lastsMs: number;
  /** Objects that could not be reconciled, by `namespace/name`, and since when that is so. */
  readonly failing: ReadonlyMap<string, string>;
}

export interface Sweep {
  readonly kube: KubeClient;
  readonly lease: SweepLease;
  readonly nowMs: () => number;
  readonly log: { warn(fields: object, message: string): void };
  readonly signal: AbortSignal;
}

/** A sweep of many objects holds no more of each in memory. */
interface Named {
  readonly metadata: { readonly namespace?: string; readonly name: string };
}

const FAILING = 'ballast.dev/not-looked-at';
/** Some 30 KB of names. A sweep that fails at more is none. */
const FAILING_MAX = 100;
/** Two ticks may be lost; a minute is for the sweep itself, and for clocks that differ. */
const PERIODS = 2;
const SLACK_SECONDS = 60;
const SWEEP_SECONDS = 60;
/** Bounds a value that somebody else may have written. */
const LASTS_SECONDS_MAX = 200_000;

const lastsSeconds = (sweepSeconds: number): number => PERIODS * sweepSeconds + SLACK_SECONDS;

/**
 * Reconciles each object and then renews the Lease, with the names of those that failed. A failure
 * stops no other object: all are tried, and then the first failure is thrown. A sweep that failed
 * at every object, or at very many, renews nothing.
 */
export async function sweepEach<Object extends Named>(
  objects: readonly Object[],
  reconcile: (object: Object) => Promise<void>,
  sweep: Sweep,
): Promise<void> {
  if (objects.length === 0 && sweep.lease.isForObjects === true) return;
  const settled = await Promise.allSettled(objects.map((object) => reconcile(object)));
  const failed = objects.filter((_, index) => settled[index]?.status === 'rejected').map(sweptKey);
  const isSwept = failed.length === 0 || failed.length < objects.length;
  if (isSwept && failed.length <= FAILING_MAX) await renewOrWarn(failed, sweep);
  const first = settled.find((one) => one.status === 'rejected');
  if (first !== undefined) throw first.reason;
}

/** How an object is called in the Lease. */
export const sweptKey = ({ metadata: { namespace, name } }: Named): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/** A failed renewal does not repeat the sweep: dead-letters reports a Lease that ran out. */
async function renewOrWarn(failed: readonly string[], sweep: Sweep): Promise<void> {
  try {
    await renew(failed, sweep);
  } catch (error) {
    const { namespace, name } = sweep.lease;
    const message = 'the Lease of the sweep could not be renewed';
    sweep.log.warn({ err: error, lease: `${namespace}/${name}` }, message);
  }
}

async function renew(failed: readonly string[], sweep: Sweep): Promise<void> {
  const { kube, lease, nowMs, signal } = sweep;
  const { namespace, name, sweepSeconds } = lease;
  const { failing } = readSweepLease(await kube.get(LEASES, { namespace, name }, { signal }));
  const now = nowMs();
  const since = failed.map((key) => [key, failing.get(key) ?? timestamp(now)]);
  const annotations = { [FAILING]: JSON.stringify(Object.fromEntries(since)) };
  const manifest = {
    apiVersion: apiVersionOf(LEASES),
    kind: 'Lease',
    metadata: {
      namespace,
      name,
      labels: { 'app.kubernetes.io/part-of': 'ballast' },
      ...(failed.length === 0 ? {} : { annotations }),
    },
    spec: {
      holderIdentity: hostname(),
      leaseDurationSeconds: lastsSeconds(sweepSeconds),
      renewTime: microTime(now),
    },
  };
  await kube.apply(LEASES, manifest, { force: true, signal });
}

/** Null where there is none. */
export function readSweepLease(object: KubeObject | null): SweepLeaseState {
  const spec = isRecord(object?.['spec']) ? object['spec'] : {};
  const { renewTime, leaseDurationSeconds: said } = spec;
  const isSaid = Number.isInteger(said) && Number(said) > 0 && Number(said) <= LASTS_SECONDS_MAX;
  return {
    renewTime: typeof renewTime === 'string' ? renewTime : undefined,
    lastsMs: (isSaid ? Number(said) : lastsSeconds(SWEEP_SECONDS)) * 1_000,
    failing: failingIn(object?.metadata.annotations?.[FAILING]),
  };
}

function failingIn(text: string | undefined): ReadonlyMap<string, string> {
  try {
    const read: unknown = JSON.parse(text ?? '{}');
    const entries = isRecord(read) ? Object.entries(read) : [];
    return new Map(entries.flatMap(([key, at]) => (typeof at === 'string' ? [[key, at]] : [])));
  } catch {
    return new Map();
  }
}
