// Answers over HTTP whether anything is stored in an old version: in the etcd that it was given, or
// in a snapshot that somebody sends. Wakes on no event, and changes nothing.
import { etcdIn } from '../../shared/etcd/client.ts';
import { defineFunction } from '../../shared/function/define.ts';
import { ETCD_CONFIG, etcdConflicts } from '../../shared/function/etcd-config.ts';
import { routes, type Doors } from './routes.ts';

export const storageAudit = defineFunction({
  name: 'storage-audit',
  purpose: 'Says whether anything is stored in an old version, and which versions may be removed.',
  wakesOn: [],
  config: ETCD_CONFIG,
  conflicts: etcdConflicts,
  open: (config): Doors => ({ etcd: etcdIn(config), prefixes: config.prefixes }),
  close: async ({ etcd }) => etcd?.close(),
  routes,
});
