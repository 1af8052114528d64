// Both sides of the benchmarks of etcd: an EtcdCluster and the plain StatefulSet of charts, made
// and ended in one place, with the same settings and without TLS, which such charts do not make.
import type { EtcdSettings } from '../../../shared/api/etcd-cluster.ts';
import { CLIENT_PORT } from '../../../shared/api/etcd-names.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { CLAIMS } from '../../../shared/stateful/parts.ts';
import { until } from '../../builders/versioned-kind.ts';
import type { EtcdPlace } from '../../integration/etcd-cluster/etcd-place.ts';
import type { Named } from '../../integration/etcd-cluster/etcd-scene.ts';

export const OURS = 'etcd-cluster';
export const PLAIN = 'plain StatefulSet';

const ENDS_WITHIN_MS = 120_000;
const WITHOUT_TLS = { clients: { mode: 'None' }, peers: { mode: 'None' } };

/** As the API server fills in what a spec leaves out. */
export async function defaultSettings(place: EtcdPlace): Promise<EtcdSettings> {
  const at = { namespace: 'settings', name: 'settings' };
  await place.namespace(at.namespace);
  await place.create(at, { paused: true, tls: WITHOUT_TLS });
  return (await place.read(at))['spec'] as EtcdSettings;
}

export const createOurs = (place: EtcdPlace, at: Named, replicas: number): Promise<void> =>
  place.create(at, { replicas, tls: WITHOUT_TLS });

export async function deleteOurs(place: EtcdPlace, at: Named): Promise<void> {
  await place.delete(at);
  const isGone = async (): Promise<boolean> => (await place.pods(at)).length === 0;
  await until('its pods to end', isGone, ENDS_WITHIN_MS);
  for (const { metadata } of await place.claims(at)) {
    const { namespace, name, uid } = { namespace: at.namespace, ...metadata };
    await place.kube.delete(CLAIMS, { namespace, name }, { uid });
  }
}

export const urlsOf = (pods: readonly KubeObject[]): readonly string[] =>
  pods.map(({ status }) => `http://${String(Object(status).podIP)}:${CLIENT_PORT}`);
