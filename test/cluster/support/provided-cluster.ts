// The cluster that the setup of a rung has provided, for the files of that rung.
import { inject } from 'vitest';
import type { ReachedCluster } from '../../../knative/try/cluster/reached-cluster.ts';
import { clusterIn } from './provide-cluster.ts';

export const providedCluster = (): Promise<ReachedCluster> => clusterIn(inject('clusterDir'));
