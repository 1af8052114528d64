// A cluster of three members in memory at rest: the first of all, and two that joined.
import type { Parts, Peer } from '../../../functions/etcd-cluster/state.ts';
import type { Differences } from './samples.ts';

const storage = { medium: 'Memory', size: '5Gi' } as const;
const url = (name: string): string => `https://${name}-0.etcd-headless.shop.svc:2380`;
export const own = (name: string): string => `${name}=${url(name)}`;

/** The first of all, and those who joined it under ids of 0x3e9 and on. */
export const keyOf = (ordinal: number): string =>
  ordinal === 0 ? 'etcd-0' : `etcd-${ordinal}.${(1_000 + ordinal).toString(16)}`;
export const starting =
  (more: (peer: Peer) => Partial<Peer> = () => ({})): NonNullable<Differences['peers']> =>
  (peers) =>
    peers.map((one) => {
      const { ordinal, bootstrap } = one.spec;
      const isFirst = ordinal === 0;
      const start = keyOf(ordinal);
      const told = { ...bootstrap, start, ...(isFirst ? { state: 'New' as const } : {}) };
      const first = { ...told, initialCluster: [{ name: 'etcd-0', url: url('etcd-0') }] };
      const { claimUid: _, ...status } = one.status;
      const peer = {
        ...one,
        spec: { ...one.spec, bootstrap: isFirst ? first : told },
        status: { ...status, podUid: `pod of ${one.name}` },
      };
      return { ...peer, ...more(peer) };
    });
export const CLOSED: Readonly<Record<string, string>> = {
  'etcd-0': 'existing',
  [keyOf(1)]: own('etcd-1'),
  [keyOf(2)]: own('etcd-2'),
};
export const starts = (data: Readonly<Record<string, string>>): Pick<Parts, 'starts'> => ({
  starts: { data, resourceVersion: '7' },
});

export const memory = (more: Differences = {}): Differences => ({
  claims: () => [],
  peers: starting(),
  parts: starts(CLOSED),
  ...more,
  spec: { storage, ...more.spec },
});
