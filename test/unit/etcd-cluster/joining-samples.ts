// An EtcdCluster whose members join three of a legacy cluster, for the tests about that.
import type { EtcdState, Member } from '../../../functions/etcd-cluster/etcd-state.ts';
import type { OldMember } from '../../../shared/api/etcd-joins.ts';
import { type Etcd } from './rows.ts';
import { claimFor, type Differences } from './samples.ts';

export const OF_3_5 = 'quay.io/coreos/etcd:v3.5.35';
export const OLD: readonly OldMember[] = ['old-0000', 'old-0001', 'old-0002'].map((name) => ({
  name,
  url: `http://${name}.old.shop.svc:2380`,
}));

const ANNOTATIONS = {
  'ballast.dev/etcd-cluster-id': 'c1',
  'ballast.dev/etcd-joins': JSON.stringify(OLD),
};

const tls = { clients: { mode: 'Mutual' }, peers: { mode: 'None' } } as const;

/** As the takeover makes it. */
export const made = (more: Differences = {}): Differences => ({
  annotations: ANNOTATIONS,
  without: ['bootstrap'],
  ...more,
  spec: { image: OF_3_5, tls, ...more.spec },
});

/** Nothing of it is there yet. */
export const fresh = (more: Differences = {}): Differences =>
  made({
    ordinals: [],
    pods: () => [],
    claims: () => [],
    without: ['bootstrap', 'clusterId'],
    ...more,
  });

const memberOfBefore = ({ name, url }: OldMember, at: number): Member => ({
  id: String(2_000 + at),
  name,
  peerUrls: [url],
  isLearner: false,
});

const listing =
  (change: (members: readonly Member[]) => readonly Member[]): Etcd =>
  (etcd: EtcdState) => ({
    ...etcd,
    list: etcd.list && { ...etcd.list, members: change(etcd.list.members) },
  });

/** So many of before are counted, too. */
export const among = (count: number): Etcd =>
  listing((members) => [...OLD.slice(0, count).map(memberOfBefore), ...members]);

/** The takeover has added it, and it has not started. */
export const added = (ordinal: number): Etcd => listing((members) => [...members, voter(ordinal)]);

const voter = (ordinal: number): Member => ({
  id: String(1_000 + ordinal),
  name: '',
  peerUrls: [`http://etcd-${ordinal}-0.etcd-headless.shop.svc:2380`],
  isLearner: false,
});

/** Somebody else did. */
export const stranger: Etcd = listing((members) => [
  ...members,
  { id: '3000', name: 'x', peerUrls: ['http://elsewhere:2380'], isLearner: false },
]);

export const of35: Etcd = (etcd) => ({
  ...etcd,
  answers: new Map([...etcd.answers].map(([name, one]) => [name, { ...one, version: '3.5.35' }])),
});

/** Marked, and of nobody who was born here. */
export const claims =
  (...names: readonly string[]): NonNullable<Differences['claims']> =>
  () =>
    names.map((name) => ({ ...claimFor(name), version: '3.5.35', born: undefined }));

/** The text by which a member without data starts among these. */
export const told = (...ordinals: readonly number[]): string =>
  [
    ...OLD.map(({ name, url }) => `${name}=${url}`),
    ...ordinals.map((one) => `etcd-${one}=http://etcd-${one}-0.etcd-headless.shop.svc:2380`),
  ].join(',');
