// An installation whose settings are gone, and what others do there meanwhile.
import type { KubeClient } from '../../../shared/kube/client.ts';

const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' } as const;
const JOBS = { group: 'batch', version: 'v1', resource: 'jobs' } as const;

/** Somebody deletes them, by whatever name they have. */
export async function loseSettings(kube: KubeClient): Promise<void> {
  const namespace = 'ballast-system';
  const { items } = await kube.list(CONFIG_MAPS, { namespace });
  const settings = items.filter(({ metadata }) => metadata.name.startsWith('ballast-settings'));
  if (settings.length === 0) throw new Error('there are no settings');
  for (const { metadata } of settings) {
    await kube.delete(CONFIG_MAPS, { namespace, name: metadata.name }, { uid: metadata.uid });
  }
}

/** Fails with the words of the API server when it refuses one. */
export async function canOthersMakeJobs(kube: KubeClient, namespace: string): Promise<boolean> {
  const container = { name: 'one', image: 'images.example.com/one:1' };
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace, name: 'of-others' },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } },
  };
  return (await kube.create(JOBS, job, { dryRun: true })).isNew;
}
