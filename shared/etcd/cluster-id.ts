// The ids that etcd gives a cluster that is born, and its members: etcd reckons them from the URLs
// of peers and the token of the cluster, so they are known before it starts. Pure.
import { createHash } from 'node:crypto';

/** Those of one member. */
type PeerUrls = readonly string[];

const ID_BYTES = 8;

/** In hex without leading zeros, as etcdctl writes it. */
export function bornClusterId(members: readonly PeerUrls[], token: string): string {
  const ids = members.map((urls) => hashed(Buffer.from([...urls].toSorted().join('') + token)));
  const inOrder = ids.toSorted((one, other) => one.compare(other));
  return hashed(Buffer.concat(inOrder)).readBigUInt64BE(0).toString(16);
}

const hashed = (bytes: Buffer): Buffer =>
  createHash('sha1').update(bytes).digest().subarray(0, ID_BYTES);
