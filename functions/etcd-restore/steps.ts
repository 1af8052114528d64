// Applies one step. Each changes one thing: what it makes it creates and never updates, and what is
// there it changes or deletes by uid, on condition that it is still as it was observed.
import { ETCD_CLUSTERS } from '../../shared/api/etcd-cluster.ts';
import {
  BORN_ANNOTATION,
  CLUSTER_ID_ANNOTATION,
  VERSION_ANNOTATION,
} from '../../shared/api/etcd-peer.ts';
import { versionOfImage } from '../../shared/etcd/version.ts';
import { JOBS } from '../../shared/jobs/observe.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { CLAIMS } from '../../shared/stateful/parts.ts';
import { applied, type StepResult } from '../../shared/stateful/steps.ts';
import type { Step } from './decision.ts';
import { clusterNameOf, type EtcdRestore, memberLabelsOf, seedClaimOf } from './object.ts';
import { claimManifest } from './render/claim.ts';
import { clusterManifest } from './render/cluster.ts';
import { jobManifest } from './render/job.ts';
import type { FoundClaim, State } from './state.ts';

interface StepDeps {
  readonly kube: KubeClient;
  readonly image: string;
}

export async function applyStep(
  { kube, image }: StepDeps,
  { restore }: State,
  step: Step,
  signal: AbortSignal,
): Promise<StepResult> {
  const { namespace, status } = restore;
  const cluster = `EtcdCluster ${clusterNameOf(restore)}`;
  switch (step.type) {
    // One that is there already stays as it is, and the next look says whose it is.
    case 'make-claim':
      await kube.create(CLAIMS, claimManifest(restore, step.target), { signal });
      return applied('ClaimCreated', `Created claim ${seedClaimOf(restore)}.`);
    case 'make-job': {
      const { backup } = step;
      const target = { ...step.target, image: status.image ?? step.target.image };
      const manifest = jobManifest({ restore, backup, target, image });
      await kube.create(JOBS, manifest, { signal });
      const { name } = manifest.metadata;
      return applied('JobCreated', `Created Job ${name}, which restores ${backup.location}.`);
    }
    case 'make-cluster': {
      const { clusterId = '' } = status;
      await kube.create(ETCD_CLUSTERS, clusterManifest(restore, clusterId), { signal });
      return applied('EtcdClusterCreated', `Created ${cluster}, of cluster ${clusterId}.`);
    }
    case 'hand-over':
      await handOver(kube, restore, step.claim, signal);
      return applied('ClaimHandedOver', `Claim ${step.claim.name} is that of ${cluster}.`);
    case 'delete-claim': {
      const { name, uid, resourceVersion } = step.claim;
      await kube.delete(CLAIMS, { namespace, name }, { uid, resourceVersion }, { signal });
      return applied('ClaimDeleted', `Deleted claim ${name} (uid ${uid}), which was ours.`);
    }
    case 'delete-job': {
      const { name, uid } = step.job;
      const background = { propagationPolicy: 'Background', signal } as const;
      await kube.delete(JOBS, { namespace, name }, { uid }, background);
      return applied('JobDeleted', `Deleted Job ${name}, whose word is in the status.`);
    }
    default:
      // The status is written by its own piece.
      return { isSlow: false };
  }
}

/** From now on it is that of a member, with the marks by which etcd-cluster starts on it. */
async function handOver(
  kube: KubeClient,
  restore: EtcdRestore,
  { name, uid, resourceVersion }: FoundClaim,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, status } = restore;
  const { clusterId, image = '' } = status;
  const version = versionOfImage(image);
  const marks = {
    [CLUSTER_ID_ANNOTATION]: clusterId,
    [VERSION_ANNOTATION]: version,
    [BORN_ANNOTATION]: version,
  };
  const metadata = {
    uid,
    resourceVersion,
    labels: memberLabelsOf(restore),
    annotations: marks,
    // It outlives the EtcdRestore, as each claim of a member does its EtcdCluster.
    ownerReferences: null,
  };
  const body = { metadata };
  await kube.patch(CLAIMS, { namespace, name }, { type: 'merge', body }, { signal });
}
