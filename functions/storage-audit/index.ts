// Answers over HTTP whether anything is stored in an old version: in the etcd that it was given, or
// in a snapshot that somebody sends. Wakes on no event, and changes nothing.
import { etcdIn } from '../../shared/etcd/client.ts';
import { defineFunction } from '../../shared/function/define.ts';
import { ETCD_CONFIG, etcdConflicts } from '../../shared/function/etcd-config.ts';
import { KUBECONFIG } from '../../shared/function/kube-config.ts';
import { KeyReader } from '../../shared/kube/key-reader.ts';
import { routes, type Deps } from './routes.ts';

const NAME = 'ballast-storage-audit';

export const storageAudit = defineFunction({
  name: 'storage-audit',
  purpose: 'Says whether anything is stored in an old version, and which versions may be removed.',
  wakesOn: [],
  config: { ...ETCD_CONFIG, kubeconfigPath: KUBECONFIG },
  conflicts: etcdConflicts,
  open: ({ kubeconfigPath, ...config }, { log }): Deps => ({
    etcd: etcdIn(config),
    prefixes: config.prefixes,
    keys: new KeyReader({ kubeconfigPath, userAgent: NAME, fieldManager: NAME, log }),
  }),
  readApiServer: ({ keys }, path, signal) => keys.read(path, signal),
  close: async ({ etcd, keys }) => {
    await Promise.all([etcd?.close(), keys.close()]);
  },
  routes,
});
