// All that we ship, on the plane of a lane.
import { fileURLToPath } from 'node:url';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { loadWiring } from '../../../knative/try/local/manifests/load.ts';
import type { Plane } from '../../../knative/try/local/plane/plane.ts';
import { withKube } from '../start-lane.ts';

const MANIFESTS = fileURLToPath(new URL('../../../knative', import.meta.url));

export const applyManifests = (plane: Plane): Promise<void> =>
  withKube(plane, async (kube) => applyObjects(kube, (await loadWiring(MANIFESTS)).objects));
