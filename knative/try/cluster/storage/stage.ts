// An object storage as a stage of a cluster, for backups.
import { extraPodStage } from '../extra-pod.ts';
import { endpointIn, STORAGE, storageObjects } from './objects.ts';

const namespace = 's3';

export const storageStage = extraPodStage({
  ...STORAGE,
  name: 'storage',
  readyName: `object storage ${endpointIn(namespace)}`,
  pod: { namespace, name: 's3' },
  objects: () => [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    ...storageObjects(namespace),
  ],
});
