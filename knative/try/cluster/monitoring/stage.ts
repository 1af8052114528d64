// A Prometheus as a stage of a cluster: it scrapes our functions, and has the alerts that ship.
import { extraPodStage } from '../extra-pod.ts';
import { givenAsShipped, monitoringObjects, podIn, PROMETHEUS, urlIn } from './objects.ts';

const namespace = 'monitoring';

export const monitoringStage = extraPodStage({
  ...PROMETHEUS,
  name: 'monitoring',
  readyName: `Prometheus ${urlIn(namespace)}`,
  pod: podIn(namespace),
  objects: async () => monitoringObjects(namespace, await givenAsShipped()),
});
