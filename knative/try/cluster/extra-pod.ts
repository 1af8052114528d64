// A server in one pod as a stage of a cluster. Its image is there early; it comes itself when the
// stages before it are ready, since it may ask for what they make.
import { systemClock } from '../../../shared/clock.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { isRecord } from '../../../shared/kube/json.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { programSpec } from '../../tools/images/program.ts';
import { applyObjects } from '../local/cluster/apply-objects.ts';
import type { PartName } from '../local/parts/part-entry.ts';
import { resolvePart } from '../local/parts/resolve.ts';
import { partsSettings } from '../local/parts/settings.ts';
import { cachedArchive } from './knative/cached-archive.ts';
import type { Stage } from './stage.ts';

export interface ExtraPod {
  /** Its stage. */
  readonly name: string;
  /** People read here where it is. */
  readonly readyName: string;
  readonly part: PartName;
  readonly image: string;
  readonly pod: { readonly namespace: string; readonly name: string };
  /** The namespace, the pod and what it needs, in their order. */
  objects(): Promise<readonly Manifest[]> | readonly Manifest[];
}

const PODS = { group: '', version: 'v1', resource: 'pods' } as const;
const LOOK_EVERY_MS = 250;
const READY_WITHIN_MS = 120_000;

/** Any user but root will do. */
const UID = 1_000;

export const podSecurity = {
  runAsNonRoot: true,
  runAsUser: UID,
  runAsGroup: UID,
  fsGroup: UID,
  seccompProfile: { type: 'RuntimeDefault' },
} as const;

export const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
} as const;

export const extraPodStage = (extra: ExtraPod, archiveOf = extraPodArchive): Stage => ({
  name: extra.name,
  async run(cluster, { onReady, signal, before }) {
    await cluster.importImage(await archiveOf(extra, signal));
    await before;
    const { kubeconfigPath } = cluster;
    const user = 'ballast-cluster';
    const kube = openKube({ kubeconfigPath, userAgent: user, fieldManager: user });
    try {
      const objects = await extra.objects();
      const file = extra.readyName;
      await applyObjects(
        kube,
        objects.map((object) => ({ file, object })),
        { signal },
      );
      await untilReady(kube, extra, signal);
      onReady(extra.readyName);
    } finally {
      await kube.close();
    }
  },
});

/** The path of the archive of its image. */
export async function extraPodArchive(
  { image, part }: Pick<ExtraPod, 'image' | 'part'>,
  signal?: AbortSignal,
): Promise<string> {
  const settings = partsSettings();
  const resolving = signal === undefined ? { settings } : { settings, signal };
  const binary = await resolvePart(part, resolving);
  return cachedArchive(await programSpec({ image, binary }), settings);
}

async function untilReady(
  kube: KubeClient,
  { pod, readyName }: ExtraPod,
  signal: AbortSignal,
): Promise<void> {
  const endsAtMs = systemClock.nowMs() + READY_WITHIN_MS;
  while (!isReady((await kube.get(PODS, pod, { signal }))?.['status'])) {
    if (systemClock.nowMs() > endsAtMs) {
      const next = `kubectl -n ${pod.namespace} describe pod ${pod.name} says why`;
      throw new Error(`The ${readyName} was not up in time; ${next}.`);
    }
    await systemClock.sleep(LOOK_EVERY_MS, signal);
  }
}

function isReady(status: unknown): boolean {
  const { conditions } = isRecord(status) ? status : {};
  const all = Array.isArray(conditions) ? conditions.filter(isRecord) : [];
  return all.some(({ type, status: is }) => type === 'Ready' && is === 'True');
}
