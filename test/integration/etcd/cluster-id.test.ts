// The id of a cluster is known before it is born: real etcds of three versions have the one that is
// reckoned from the URLs of their members and their token.
import { expect, test } from 'vitest';
import { bornClusterId } from '../../../shared/etcd/cluster-id.ts';
import { hexOf } from '../../../shared/etcd/admin/ids.ts';
import { EtcdCluster } from './cluster.ts';

test.each(['etcd-previous', 'etcd', 'etcd-next'] as const)('%s has it', async (part) => {
  const cluster = await EtcdCluster.start(3, { part, flags: ['--initial-cluster-token=u1'] });
  try {
    const urls = [0, 1, 2].map((index) => [cluster.placeOf(index).peerUrl]);
    const { header } = await cluster.at(0).status();
    expect(bornClusterId(urls, 'u1')).toBe(hexOf(header.clusterId));
    expect(bornClusterId(urls, 'u2')).not.toBe(hexOf(header.clusterId));
  } finally {
    await cluster.stop();
  }
});
