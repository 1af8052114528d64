// The versions that a member tells beside its gateway: its own, and that which all members have
// agreed to speak. It answers without a quorum, and whoever may connect.
import type { Call } from './caller.ts';
import { Odd, textIn } from './fields.ts';

export interface EtcdVersions {
  readonly server: string;
  /** As `3.5.0`; undefined as long as it knows none. */
  readonly cluster: string | undefined;
}

const VERSION = /^\d+\.\d+\.\d+/;

export const VERSIONS: Call<EtcdVersions> = {
  path: '/version',
  body: null,
  read: (answer) => {
    const server = textIn(answer, 'etcdserver');
    if (!VERSION.test(server)) throw new Odd('etcdserver');
    const cluster = textIn(answer, 'etcdcluster');
    return { server, cluster: VERSION.test(cluster) ? cluster : undefined };
  },
};
