// The order in which members are asked for a backup.
import { expect, test } from 'vitest';
import { findSources, ordered, type Source } from '../../../functions/etcd-backup/member.ts';
import { openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import { poseAsEtcd, says } from '../../builders/posing-etcd.ts';

interface Case {
  readonly id: string;
  readonly leads?: boolean;
  readonly applied?: number;
  readonly isLearner?: boolean;
  readonly clusterId?: string;
  readonly knowsLeader?: boolean;
}

const source = ({ id, leads = false, applied = 10, ...rest }: Case): Source =>
  ({
    url: `http://${id}`,
    status: {
      header: { memberId: id, clusterId: rest.clusterId ?? 'c' },
      leaderId: rest.knowsLeader === false ? undefined : leads ? id : 'leader',
      isLearner: rest.isLearner ?? false,
      raftAppliedIndex: applied,
    },
  }) as unknown as Source;

function order(...cases: readonly Case[]): readonly string[] {
  const sources = cases.map((one) => source(one));
  return ordered(sources, sources[0]).map(({ url }) => url.slice('http://'.length));
}

test.each<[string, readonly Case[], readonly string[]]>([
  ['a follower before the leader', [{ id: '1', leads: true }, { id: '2' }], ['2', '1']],
  [
    'of two followers the one that is further',
    [{ id: '1' }, { id: '2', applied: 11 }, { id: '3', leads: true }],
    ['2', '1', '3'],
  ],
  [
    'one without a leader last: it may be behind',
    [
      { id: '1', knowsLeader: false, applied: 99 },
      { id: '2', leads: true },
    ],
    ['2', '1'],
  ],
  [
    'no learner',
    [
      { id: '1', isLearner: true },
      { id: '2', leads: true },
    ],
    ['2'],
  ],
  ['no member of another cluster', [{ id: '1' }, { id: '2', clusterId: 'other' }], ['1']],
  ['each once, whatever addresses it has', [{ id: '1' }, { id: '1' }], ['1']],
])('%s', (_, cases, expected) => {
  expect(order(...cases)).toEqual(expected);
});

test('the cluster is that of the given address, whoever answers at those of its list', async () => {
  const status = (cluster: string, member: string, leader: string) => ({
    header: { cluster_id: cluster, member_id: member, revision: '5', raft_term: '2' },
    version: '3.6.0',
    dbSize: '1',
    leader,
    raftAppliedIndex: '9',
  });
  const listed: string[] = [];
  const given = await poseAsEtcd((response, asked) => {
    const members = listed.map((url, index) => ({ ID: `${index + 1}`, clientURLs: [url] }));
    const { header } = status('7', '1', '1');
    const answer = asked.path.includes('member/list') ? { header, members } : status('7', '1', '1');
    says(answer)(response, asked);
  });
  const other = await poseAsEtcd(says(status('8', '2', '3')));
  const follower = await poseAsEtcd(says(status('7', '2', '1')));
  listed.push(other.url, `${follower.url}/`, 'http://192.0.2.1:1', 'none');
  const etcd = openEtcdAdmin({ endpoints: [given.url] });
  try {
    const found = await findSources(etcd, [given.url], AbortSignal.timeout(9_000));
    expect(found.map(({ url }) => url)).toEqual([follower.url, given.url]);
  } finally {
    await etcd.close();
  }
});
