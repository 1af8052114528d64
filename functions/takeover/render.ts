// The objects that are made for a takeover: a claim with the snapshot, the EtcdBackup that takes
// it, and the EtcdRestore that makes the new EtcdCluster of it. They go with the Takeover, and the
// EtcdCluster stays. Pure.
import { ETCD_BACKUPS } from '../../shared/api/etcd-backup.ts';
import { ETCD_RESTORES } from '../../shared/api/etcd-restore.ts';
import { TAKEOVER_LABEL, TAKEOVERS } from '../../shared/api/takeover.ts';
import { textOf } from '../../shared/kube/json.ts';
import { apiVersionOf, type Manifest } from '../../shared/kube/objects.ts';
import { type Owner, owned } from '../../shared/stateful/parts.ts';
import { oldUrl } from './access.ts';
import { answersOf } from './answers.ts';
import { carriedOver } from './carry-over.ts';
import { fieldOf, type LegacyEtcd } from './legacy.ts';
import type { Takeover } from './object.ts';
import { FILE } from './records.ts';
import type { State } from './state.ts';

const ownerOf = (takeover: Takeover): Owner => ({
  apiVersion: apiVersionOf(TAKEOVERS),
  kind: 'Takeover',
  name: takeover.name,
  namespace: takeover.namespace,
  uid: takeover.uid,
  labels: {
    'app.kubernetes.io/name': 'takeover',
    'app.kubernetes.io/managed-by': 'ballast',
    [TAKEOVER_LABEL]: takeover.name,
  },
});

/** As large as that of a member: no snapshot is larger than a database may be. */
export function claimManifest(takeover: Takeover, legacy: LegacyEtcd, name: string): Manifest {
  const storage = fieldOf(carriedOver(legacy, takeover.spec), 'storage');
  const storageClassName = textOf(storage['storageClassName']);
  const spec = {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: textOf(storage['size']) } },
    ...(storageClassName === '' ? {} : { storageClassName }),
  };
  return owned(ownerOf(takeover), 'v1', 'PersistentVolumeClaim', name, { spec });
}

export function backupManifest(state: State, legacy: LegacyEtcd, name: string): Manifest {
  const { takeover, pods } = state;
  const answered = new Set(answersOf(state).map(({ pod }) => pod));
  const endpoints = pods.flatMap((pod) =>
    answered.has(pod.name) && pod.ip !== undefined ? oldUrl(legacy, pod.name, pod.ip) : [],
  );
  const { tls } = legacy;
  const shown = tls && { tls: { secretName: tls.operatorSecret, keys: tls.keys } };
  const spec = { source: { endpoints, ...shown }, target: { claim: { name, path: FILE } } };
  return owned(ownerOf(takeover), apiVersionOf(ETCD_BACKUPS), 'EtcdBackup', name, { spec });
}

export function restoreManifest(takeover: Takeover, legacy: LegacyEtcd, name: string): Manifest {
  const spec = {
    source: { etcdBackup: { name } },
    etcdCluster: { name: takeover.spec.into.name, spec: carriedOver(legacy, takeover.spec) },
  };
  return owned(ownerOf(takeover), apiVersionOf(ETCD_RESTORES), 'EtcdRestore', name, { spec });
}
