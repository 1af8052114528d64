// Reads the state of a backup: its Job, the pods of that, and as long as there is no Job the
// EtcdCluster that it is of. Secrets are never read: the kubelet says when one lacks. Nothing is
// read for a backup that is over. Writes nothing.
import type { SecretKey } from '../../shared/api/etcd-backup.ts';
import {
  ETCD_CLUSTERS,
  type EtcdClusterSpec,
  type EtcdClusterStatus,
} from '../../shared/api/etcd-cluster.ts';
import { CLIENT_PORT } from '../../shared/api/etcd-names.ts';
import { readJob } from '../../shared/jobs/observe.ts';
import { jobNameOf } from '../../shared/jobs/job-name.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { isEnding, type KubeObject } from '../../shared/kube/objects.ts';
import { ownObjectOf } from '../../shared/kube/own-object.ts';
import type { Observation } from '../../shared/stateful/keeping.ts';
import type { Deps } from './deps.ts';
import { type EtcdBackup, isOver } from './object.ts';
import type { Source, State } from './state.ts';

export async function observe(
  { kube, clock }: Pick<Deps, 'kube' | 'clock'>,
  backup: EtcdBackup,
  signal: AbortSignal,
): Promise<Observation<State>> {
  const nowMs = clock.nowMs();
  const none = { backup, nowMs, source: undefined, job: undefined, pods: [] };
  if (isOver(backup) || isEnding(backup.object)) return { state: none, isRemembered: false };
  const { job, pods } = await readJob({ kube, nowMs, signal }, backup, jobNameOf(backup));
  if (job === undefined) {
    // One that was noted is not made again, whatever became of it.
    const isNoted = backup.status.job !== undefined;
    const source = isNoted ? undefined : await readSource(kube, backup, signal);
    return { state: { ...none, source }, isRemembered: false };
  }
  return { state: { ...none, job, pods }, isRemembered: false };
}

async function readSource(
  kube: KubeClient,
  { namespace, spec }: EtcdBackup,
  signal: AbortSignal,
): Promise<Source | Reason> {
  const { etcdCluster, endpoints = [], tls, login } = spec.source;
  if (etcdCluster === undefined) {
    return { endpoints, ...(tls && { tls }), ...(login && { login }) };
  }
  const { name } = etcdCluster;
  const found = await kube.get(ETCD_CLUSTERS, { namespace, name }, { signal });
  if (found === null) {
    const message =
      `There is no EtcdCluster ${namespace}/${name}. It goes on when there is; for another one ` +
      'create another EtcdBackup.';
    return { reason: 'EtcdClusterMissing', message };
  }
  return sourceOf(found);
}

/** A member gives its snapshot without a quorum, too, so that is not asked for. */
function sourceOf(object: KubeObject): Source | Reason {
  const { namespace, name, spec, status } = ownObjectOf<EtcdClusterSpec, EtcdClusterStatus>(object);
  if (spec.replicas === 0 || status.clusterId === undefined) {
    const why = spec.replicas === 0 ? 'hibernates' : 'has no member yet';
    const message = `EtcdCluster ${namespace}/${name} ${why}. It goes on when one runs.`;
    return { reason: 'EtcdClusterAway', message };
  }
  const { mode, secretName = `${name}-client` } = spec.tls.clients;
  const scheme = mode === 'Mutual' ? 'https' : 'http';
  const passwordSecret: SecretKey = { name: `${name}-root`, key: 'password' };
  const { image, quota } = spec;
  return {
    etcd: { image, quota },
    endpoints: [`${scheme}://${name}.${namespace}.svc:${CLIENT_PORT}`],
    ...(mode === 'Mutual' ? { tls: { secretName } } : {}),
    ...(spec.auth === undefined ? {} : { login: { user: 'root', passwordSecret } }),
  };
}
