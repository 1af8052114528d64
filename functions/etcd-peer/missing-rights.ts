// Rights that the function lacks for an EtcdPeer. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { rightsMissing } from '../../shared/stateful/missing-rights.ts';
import type { Peer } from './peer.ts';

/** Undefined for any other failure. */
export const missingFor = (
  { namespace, name }: Pick<Peer, 'namespace' | 'name'>,
  error: unknown,
): Reason | undefined =>
  rightsMissing({ kind: 'EtcdPeer', namespace, name, functionName: 'etcd-peer' }, error);
