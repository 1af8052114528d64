// Our functions as a stage of a cluster with Knative: their images, a NATS, and then what
// docs/install.md tells people to do.
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '../../../../shared/clock.ts';
import { type KubeClient, openKube } from '../../../../shared/kube/client.ts';
import { applyObjects } from '../../local/cluster/apply-objects.ts';
import { resolvePart } from '../../local/parts/resolve.ts';
import { natsClusterRights } from '../../../tools/rights/manifests.ts';
import type { Stage, StageTurn } from '../stage.ts';
import type { Cluster } from '../start-cluster.ts';
import { functionNames } from '../../../tools/build/function-names.ts';
import { functionsArchive } from './archive.ts';
import { etcdArchives } from './etcd.ts';
import { natsArchives, natsCluster } from './nats.ts';
import { withOverlay } from './overlay.ts';
import { whatIsReady } from './ready.ts';

/** The directory of the installation, as for `kubectl apply -k`. */
const INSTALLATION = resolve(import.meta.dirname, '../../..');
const FEEDS = join(INSTALLATION, 'feeds');

/** Objects that bring an event about a NatsCluster to its function. */
const NATS_FUNCTION = /^[a-z]+\/nats-cluster/;

/** A minute on an idle machine: images, cold starts, the first sweep of the feed. */
const READY_WITHIN_MS = 300_000;
const LOOK_EVERY_MS = 250;

export const functionsStage: Stage = {
  name: 'functions',
  async run(cluster, { onReady, signal, before }) {
    const { kubeconfigPath } = cluster;
    const user = 'ballast-cluster';
    const kube = openKube({ kubeconfigPath, userAgent: user, fieldManager: user });
    try {
      await Promise.all([importImages(cluster, signal), before]);
      await withOverlay(INSTALLATION, (overlay) => kubectlApply(cluster, overlay, signal));
      const turn = { told: new Set<string>(), onReady, signal };
      // An event fails or is lost when its function cannot be reached yet: it then waits for the
      // broker's next try, or for the minute's sweep.
      await untilReady(kube, turn, (readyName) => NATS_FUNCTION.test(readyName));
      const nats = await natsCluster();
      const objects = [...natsClusterRights(nats.metadata.namespace ?? ''), nats];
      const file = 'the NATS of the cluster';
      await applyObjects(
        kube,
        objects.map((object) => ({ file, object })),
        { signal },
      );
      await untilReady(kube, turn);
      await kubectlApply(cluster, FEEDS, signal);
      await untilReady(kube, turn);
    } finally {
      await kube.close();
    }
  },
};

async function importImages(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const servers = [...(await natsArchives(signal)), ...(await etcdArchives(signal))];
  for (const archive of servers) await cluster.importImage(archive);
  const archive = await functionsArchive(await functionNames(), signal);
  signal.throwIfAborted();
  await cluster.importImage(archive);
}

async function kubectlApply(
  { kubeconfigPath }: Cluster,
  kustomization: string,
  signal: AbortSignal,
): Promise<void> {
  const kubectl = await resolvePart('kubectl', { signal });
  const args = [`--kubeconfig=${kubeconfigPath}`, 'apply', '-k', kustomization];
  await promisify(execFile)(kubectl, args, { signal });
}

interface Waiting extends Pick<StageTurn, 'onReady' | 'signal'> {
  readonly told: Set<string>;
}

async function untilReady(
  kube: KubeClient,
  { told, onReady, signal }: Waiting,
  isWanted: (readyName: string) => boolean = () => true,
): Promise<void> {
  const endsAtMs = systemClock.nowMs() + READY_WITHIN_MS;
  for (;;) {
    const { ready, ...found } = await whatIsReady(kube, signal);
    const waiting = found.waiting.filter(isWanted);
    for (const readyName of ready) {
      if (told.has(readyName)) continue;
      told.add(readyName);
      onReady(readyName);
    }
    if (waiting.length === 0) return;
    if (systemClock.nowMs() > endsAtMs) {
      throw new Error(`The functions were not up in time. ${waiting.join('; ')}`);
    }
    await systemClock.sleep(LOOK_EVERY_MS, signal);
  }
}
