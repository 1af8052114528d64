// Which image may follow which, and which a new member gets, as tables.
import { describe, expect, test } from 'vitest';
import { decide } from '../../../functions/etcd-cluster/decide.ts';
import type { MemberAnswer, View } from '../../../functions/etcd-cluster/etcd-state.ts';
import type { State } from '../../../functions/etcd-cluster/state.ts';
import { type Row, shown } from './rows.ts';
import { claimFor, type Differences, joining, silent, state, withLearner } from './samples.ts';

const imageOf = (version: string) => `quay.io/coreos/etcd:v${version}`;
const to = (version: string) => ({ image: imageOf(version) });

type Etcd = State['etcd'];
type Change = (etcd: Etcd, cluster: State['cluster']) => Etcd;

interface Running extends Partial<MemberAnswer> {
  /** As the members say it; undefined for members that have not told. */
  readonly spoken?: string | undefined;
}

/** Members of these versions, which all see the same. */
const members =
  (versions: readonly string[], { spoken, ...more }: Running = {}): Change =>
  (etcd) => {
    const answers = [...etcd.answers].map(([name, answer], index) => {
      const version = versions[index] ?? versions[0] ?? '';
      return [name, { ...answer, version, ...more }] as const;
    });
    const { clusterId, members: seen } = etcd.list ?? { clusterId: '', members: [] };
    const view: View = { clusterId, clusterVersion: spoken, members: seen };
    const views = spoken === undefined ? [] : answers.map(([name]) => [name, view] as const);
    return { ...etcd, answers: new Map(answers), views: new Map(views) };
  };

const on =
  (...versions: readonly string[]) =>
  (peers: State['peers']): State['peers'] =>
    peers.map((one, index) => {
      const image = imageOf(versions[index] ?? versions[0] ?? '');
      return { ...one, spec: { ...one.spec, image } };
    });

const written =
  (...versions: readonly (string | undefined)[]) =>
  (claims: State['claims']): State['claims'] =>
    claims.map((one, index) => ({ ...one, version: versions[index] }));

/** All run and have this, and their claims say so. */
const all = (version: string, spoken?: string): Differences => ({
  peers: on(version),
  claims: written(version, version, version),
  etcd: members([version], { spoken }),
});

const both =
  (...changes: readonly Change[]): Change =>
  (etcd, cluster) =>
    changes.reduce((now, change) => change(now, cluster), etcd);

/** One member sees another list. */
const odd =
  (name: string, change: (members: View['members']) => View['members']): Change =>
  (etcd) => {
    const view = etcd.views.get(name);
    const seen = view && ([name, { ...view, members: change(view.members) }] as const);
    return { ...etcd, views: new Map([...etcd.views, ...(seen ? [seen] : [])]) };
  };

const reverted = odd('etcd-2', (list) => list.map((one) => ({ ...one, isLearner: true })));
const zombie = odd('etcd-1', (list) => [
  ...list,
  { id: '77', name: 'gone', peerUrls: ['https://gone:2380'], isLearner: false },
]);

const START = 'update-peer: Restart etcd-1';
const refused = (version: string): string =>
  `wait: Change the image to ${imageOf(version)} [UpgradeRefused] !UpgradeRefused`;
const waits = (version: string, reason: string): string =>
  `wait: Change the image to ${imageOf(version)} [${reason}]`;

const UP: readonly Row[] = [
  ['3.5.35 to 3.6.16', { spec: to('3.6.16'), ...all('3.5.35', '3.5.0') }, START],
  ['3.6.16 to 3.7.3', { spec: to('3.7.3'), ...all('3.6.16', '3.6.0') }, START],
  [
    'not to 3.7 with what a 3.5 wrote in the log',
    {
      spec: to('3.7.3'),
      ...all('3.6.16', '3.6.0'),
      claims: (claims) => claims.map((one) => ({ ...one, born: '3.5.35' })),
    },
    refused('3.7.3'),
  ],
  ['a patch version, without a question', { spec: to('3.5.40'), ...all('3.5.35') }, START],
  ['not two minor versions', { spec: to('3.7.3'), ...all('3.5.35', '3.5.0') }, refused('3.7.3')],
  ['not another major', { spec: to('4.0.0'), ...all('3.6.16', '3.6.0') }, refused('4.0.0')],
  [
    'not from before 3.5.26, the last with zombies',
    { spec: to('3.6.16'), ...all('3.5.25', '3.5.0') },
    refused('3.6.16'),
  ],
  [
    'not when one alone is from before 3.5.26, and is silent',
    {
      spec: to('3.6.16'),
      ...all('3.5.35', '3.5.0'),
      status: { members: [{ name: 'etcd-2', version: '3.5.25' }] },
      etcd: both(members(['3.5.35'], { spoken: '3.5.0' }), silent('etcd-2')),
    },
    'wait: Nothing [MemberSilent]',
  ],
  [
    'not for data that was born elsewhere',
    {
      spec: to('3.6.16'),
      ...all('3.5.35', '3.5.0'),
      without: ['bootstrap'],
      claims: (claims) => claims.map((one) => ({ ...one, version: '3.5.35', born: undefined })),
    },
    refused('3.6.16'),
  ],
  [
    'for data of an EtcdCluster that was made again',
    {
      spec: to('3.6.16'),
      ...all('3.5.35', '3.5.0'),
      without: ['bootstrap'],
      claims: (claims) => claims.map((one) => ({ ...one, version: '3.5.35', born: '3.5.35' })),
    },
    START,
  ],
  [
    'not before every member has told what it sees',
    { spec: to('3.6.16'), ...all('3.5.35') },
    waits('3.6.16', 'ViewUnknown'),
  ],
  [
    'not before all have raised the version of the cluster',
    { spec: to('3.7.3'), ...all('3.6.16', '3.5.0') },
    waits('3.7.3', 'ClusterVersionDiffers'),
  ],
  [
    'not while a member takes promoted ones for learners',
    {
      spec: to('3.6.16'),
      ...all('3.5.35'),
      etcd: both(members(['3.5.35'], { spoken: '3.5.0' }), reverted),
    },
    refused('3.6.16'),
  ],
  [
    'not while a member sees one that is gone',
    {
      spec: to('3.6.16'),
      ...all('3.5.35'),
      etcd: both(members(['3.5.35'], { spoken: '3.5.0' }), zombie),
    },
    refused('3.6.16'),
  ],
  [
    'and no further when the first 3.6 does',
    {
      spec: to('3.6.16'),
      peers: on('3.5.35', '3.6.16', '3.5.35'),
      claims: written('3.5.35', '3.6.16', '3.5.35'),
      etcd: both(members(['3.5.35', '3.6.16', '3.5.35'], { spoken: '3.5.0' }), zombie),
    },
    refused('3.6.16'),
  ],
  [
    'else the next one follows',
    {
      spec: to('3.6.16'),
      peers: on('3.5.35', '3.6.16', '3.5.35'),
      claims: written('3.5.35', '3.6.16', '3.5.35'),
      etcd: members(['3.5.35', '3.6.16', '3.5.35'], { spoken: '3.5.0' }),
    },
    'update-peer: Restart etcd-2',
  ],
  [
    'what a member runs comes onto its claim before the next one',
    {
      spec: to('3.6.16'),
      peers: on('3.5.35', '3.6.16', '3.5.35'),
      claims: written('3.5.35', '3.5.35', '3.5.35'),
      etcd: members(['3.5.35', '3.6.16', '3.5.35'], { spoken: '3.5.0' }),
    },
    'mark-claim: Mark claim data-etcd-1 as written by 3.6.16',
  ],
  [
    'a learner becomes a voter first, of the version of the others',
    {
      spec: to('3.6.16'),
      ordinals: [0, 1, 2],
      peers: (peers) => on('3.5.35')(peers),
      claims: written('3.5.35', '3.5.35', '3.5.35'),
      etcd: both(members(['3.5.35'], { spoken: '3.5.0' }), withLearner(3)),
      parts: joining(3),
    },
    'make-peer: Let etcd-3 join',
  ],
];

const DOWN: readonly Row[] = [
  ['not an older patch version', { spec: to('3.6.15'), ...all('3.6.16') }, refused('3.6.15')],
  ['not a minor version', { spec: to('3.5.35'), ...all('3.6.16', '3.6.0') }, refused('3.5.35')],
  [
    'not when etcd says that it wrote as the newer one',
    {
      spec: to('3.5.35'),
      ...all('3.6.16'),
      etcd: members(['3.6.16'], { spoken: '3.5.0', storageVersion: '3.6.0' }),
    },
    refused('3.5.35'),
  ],
  [
    'when etcd was told to, and every member has rewritten its files',
    {
      spec: to('3.5.35'),
      ...all('3.6.16'),
      etcd: members(['3.6.16'], {
        spoken: '3.5.0',
        storageVersion: '3.5.0',
        downgradeTo: '3.5.0',
      }),
    },
    START,
  ],
  [
    'not before that',
    {
      spec: to('3.5.35'),
      ...all('3.6.16'),
      etcd: members(['3.6.16'], { spoken: '3.5.0', downgradeTo: '3.5.0' }),
    },
    waits('3.5.35', 'DowngradeUnderWay'),
  ],
  [
    'and not up again meanwhile',
    {
      spec: to('3.7.3'),
      ...all('3.6.16'),
      etcd: members(['3.6.16'], { spoken: '3.6.0', downgradeTo: '3.5.0' }),
    },
    refused('3.7.3'),
  ],
  [
    'an upgrade that is not through turns back while a member runs the version before',
    {
      spec: to('3.5.35'),
      peers: on('3.5.35', '3.6.16', '3.5.35'),
      claims: written('3.5.35', '3.6.16', '3.5.35'),
      etcd: members(['3.5.35', '3.6.16', '3.5.35'], { spoken: '3.5.0' }),
    },
    START,
  ],
  [
    'and not once all run the newer one, though they speak as the older',
    {
      spec: to('3.5.35'),
      ...all('3.6.16'),
      etcd: members(['3.6.16'], { spoken: '3.5.0' }),
    },
    refused('3.5.35'),
  ],
  [
    'a first member that never came is given its former image',
    {
      spec: to('3.5.35'),
      ...all('3.5.35'),
      peers: on('3.5.35', '3.6.16', '3.5.35'),
      status: {
        restarting: {
          peer: 'etcd-1',
          podUid: 'another',
          reason: 'Why.',
          since: '2026-01-01T23:59:00Z',
        },
        members: [{ name: 'etcd-1', version: '3.5.35' }],
      },
      etcd: both(members(['3.5.35']), silent('etcd-1')),
    },
    START,
  ],
];

const again = { peers: () => [], pods: () => [], ordinals: [], without: ['bootstrap'] } as const;
const claims =
  (...versions: readonly (string | undefined)[]): NonNullable<Differences['claims']> =>
  () =>
    versions.map((version, ordinal) => ({ ...claimFor(`etcd-${ordinal}`), version }));
const BACK = 'make-peer: Bring back etcd-0';
const NOT_BACK = 'wait: Bring back etcd-0 [UpgradeRefused] !UpgradeRefused';

const AGAIN: readonly Row[] = [
  [
    'over claims of its own version',
    { ...again, claims: claims('3.6.16', '3.6.16', '3.6.16') },
    BACK,
  ],
  ['over those of a former patch version', { ...again, claims: claims('3.6.15', '3.6.16') }, BACK],
  ['not over those of a later patch version', { ...again, claims: claims('3.6.17') }, NOT_BACK],
  [
    'not when another claim has a later one',
    { ...again, claims: claims('3.6.16', '3.6.17') },
    NOT_BACK,
  ],
  [
    'not over claims of a newer minor version',
    { ...again, claims: claims('3.7.3', '3.7.3', '3.7.3') },
    NOT_BACK,
  ],
  [
    'not over claims of an older minor version',
    { ...again, claims: claims('3.5.35', '3.5.35', '3.5.35') },
    NOT_BACK,
  ],
  [
    'over those of an upgrade that was not through, to end it',
    { ...again, claims: claims('3.5.35', '3.6.16', '3.5.35') },
    BACK,
  ],
  [
    'not back to where that began',
    { ...again, spec: to('3.5.35'), claims: claims('3.5.35', '3.6.16', '3.5.35') },
    NOT_BACK,
  ],
  ['not over claims that do not tell', { ...again, claims: claims('3.6.16', undefined) }, NOT_BACK],
];

describe.each([
  ['up', UP],
  ['down', DOWN],
  ['deleted and made again', AGAIN],
] as const)('%s', (_, rows) => {
  test.each(rows)('%s', (_name, observed, decision) => {
    expect(shown(state(observed))).toBe(decision);
  });
});

const messageOf = (observed: Differences): string | undefined =>
  decide(state(observed)).trouble?.message;

test.each<[string, Differences, RegExp]>([
  ['skipped', { spec: to('3.7.3'), ...all('3.5.35', '3.5.0') }, /Go through.*: 3\.6 first\.$/],
  ['too old', { spec: to('3.6.16'), ...all('3.5.25', '3.5.0') }, /Go to 3\.5\.26 first\.$/],
  ['down', { spec: to('3.5.35'), ...all('3.6.16', '3.6.0') }, /etcdctl downgrade enable 3\.5\.$/],
  ['made again', { ...again, claims: claims('3.7.3') }, /has data of etcd 3\.7\.3.*Set image/],
  ['half through', { ...again, ...to('3.5.35'), claims: claims('3.7.3', '3.5.35') }, /3\.7\.3/],
  [
    'untold',
    { ...again, claims: claims(undefined) },
    /Annotate it with ballast\.dev\/etcd-version/,
  ],
])('a refusal has the way out: %s', (_, observed, message) => {
  expect(messageOf(observed)).toMatch(message);
});

test.each<[string, Differences, string]>([
  [
    'one that joins while an upgrade is wanted has the version of the others',
    {
      spec: { ...to('3.6.16'), replicas: 5 },
      ordinals: [0, 1, 2],
      peers: on('3.5.35'),
      claims: written('3.5.35', '3.5.35', '3.5.35'),
      etcd: both(members(['3.5.35'], { spoken: '3.5.0' }), withLearner(3)),
      parts: joining(3),
    },
    '3.5.35',
  ],
  [
    'one that is brought back in the midst of an upgrade has that of its data',
    {
      spec: to('3.6.16'),
      peers: (peers) => on('3.5.35', '3.6.16', '3.5.35')(peers).slice(0, 2),
      claims: written('3.5.35', '3.6.16', '3.5.35'),
      etcd: both(members(['3.5.35', '3.6.16', '3.5.35'], { spoken: '3.5.0' }), silent('etcd-2')),
    },
    '3.5.35',
  ],
  [
    'made again amid an upgrade, all of them get the newer one',
    {
      spec: to('3.6.16'),
      without: ['bootstrap'],
      peers: (peers) => on('3.6.16')(peers).slice(0, 1),
      claims: written('3.5.35', '3.6.16', '3.5.35'),
      etcd: (etcd) => ({ ...etcd, list: undefined, answers: new Map() }),
    },
    '3.6.16',
  ],
])('the image of a new peer: %s', (_, observed, version) => {
  const { step } = decide(state(observed));
  expect(step?.type === 'make-peer' ? step.spec.image : step?.type).toBe(imageOf(version));
});
