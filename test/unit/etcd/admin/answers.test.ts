// The administration of etcd takes as an answer only what etcd says; a stranger at the address of a
// pod gets it to do nothing but fail, in time and in bounds.
import { afterEach, describe, expect, test } from 'vitest';
import { type EtcdMemberAdmin, openEtcdAdmin } from '../../../../shared/etcd/admin.ts';
import { hexOf } from '../../../../shared/etcd/admin/ids.ts';
import { readText } from '../../../../shared/etcd/bounded.ts';
import { floods, type Manner, poseAsEtcd, says } from '../../../builders/posing-etcd.ts';

const opened: EtcdMemberAdmin[] = [];

afterEach(async () => {
  for (const admin of opened.splice(0)) await admin.close();
});

async function adminOf(manner: Manner): Promise<EtcdMemberAdmin> {
  const { url } = await poseAsEtcd(manner);
  const admin = openEtcdAdmin({ endpoint: url });
  opened.push(admin);
  return admin;
}

const BIG = '18446744073709551615';
const header = {
  cluster_id: BIG,
  member_id: '10501334649042878790',
  revision: '7',
  raft_term: '2',
};
const status = { header, version: '3.6.16', dbSize: '20480', dbSizeInUse: '16384' };

describe('a status', () => {
  test('is told field by field, and ids are not rounded', async () => {
    const admin = await adminOf(
      says({
        ...status,
        leader: BIG,
        raftIndex: '9',
        raftTerm: '2',
        raftAppliedIndex: '8',
        errors: ['memberID:10501334649042878790  alarm:NOSPACE ', 'etcdserver: no leader'],
        isLearner: true,
        storageVersion: '3.6.0',
        dbSizeQuota: '2147483648',
        downgradeInfo: { enabled: true, targetVersion: '3.5.0' },
      }),
    );
    expect(await admin.status()).toEqual({
      header: { clusterId: BIG, memberId: '10501334649042878790', revision: '7', raftTerm: 2 },
      version: '3.6.16',
      storageVersion: '3.6.0',
      dbSizeBytes: 20_480,
      dbSizeInUseBytes: 16_384,
      quotaBytes: 2_147_483_648,
      leaderId: BIG,
      raftTerm: 2,
      raftIndex: 9,
      raftAppliedIndex: 8,
      isLearner: true,
      errors: ['memberID:10501334649042878790  alarm:NOSPACE ', 'etcdserver: no leader'],
      alarms: [{ memberId: '10501334649042878790', type: 'NOSPACE' }],
      downgradeTo: '3.5.0',
    });
    expect(hexOf(BIG)).toBe('ffffffffffffffff');
  });

  test('without what only newer servers tell, and without a leader, is whole', async () => {
    const admin = await adminOf(says({ ...status, leader: '0', dbSizeQuota: '-1' }));
    expect(await admin.status()).toMatchObject({
      storageVersion: undefined,
      quotaBytes: undefined,
      leaderId: undefined,
      downgradeTo: undefined,
      alarms: [],
      isLearner: false,
    });
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['a list', []],
    ['no JSON', '<html>'],
    ['nothing', ''],
    ['an empty object', {}],
    ['a header that is a list', { ...status, header: [] }],
    ['no cluster', { ...status, header: { ...header, cluster_id: undefined } }],
    ['no revision', { ...status, header: { ...header, revision: undefined } }],
    ['an id that is a number', { ...status, leader: 8 }],
    ['an id below zero', { ...status, leader: '-8' }],
    ['an id of 65 bits', { ...status, leader: '18446744073709551616' }],
    ['an id in hex', { ...status, leader: '0x8' }],
    ['no version', { ...status, version: undefined }],
    ['a version that is none', { ...status, version: 'latest' }],
    ['a version with a line break', { ...status, version: '3.6.16\nInjected: yes' }],
    ['a size that is none', { ...status, dbSize: 'large' }],
    ['a size past what numbers hold', { ...status, dbSize: '9007199254740993' }],
    ['a flag that is a text', { ...status, isLearner: 'true' }],
    ['errors that are objects', { ...status, errors: [{ toString: 'x' }] }],
    ['errors without end', { ...status, errors: Array.from({ length: 300 }, () => 'x') }],
    ['an error of megabytes', { ...status, errors: ['x'.repeat(10_000)] }],
  ])('of %s is not etcd’s', async (_, answer) => {
    const admin = await adminOf(says(answer));
    const failure = { code: 'ETCD_UNAVAILABLE', reason: 'NOT_ETCD', isInDoubt: false };
    await expect(admin.status()).rejects.toMatchObject(failure);
  });
});

describe('a list of members', () => {
  const member = { ID: '8', name: 'a', peerURLs: ['http://a:2380'], clientURLs: ['http://a:2379'] };

  test('is told, a learner and one that has not started among them', async () => {
    const started = { ...member, isLearner: true };
    const admin = await adminOf(
      says({ header, members: [started, { ID: '9', peerURLs: ['http://b:2380'] }] }),
    );
    const { members } = await admin.members.list({ isLinearizable: false });
    expect(members).toEqual([
      {
        id: '8',
        name: 'a',
        peerUrls: ['http://a:2380'],
        clientUrls: ['http://a:2379'],
        isLearner: true,
      },
      { id: '9', name: '', peerUrls: ['http://b:2380'], clientUrls: [], isLearner: false },
    ]);
  });

  test.each<[string, unknown]>([
    ['an object', { ...member }],
    ['null', [null]],
    ['one without an id', [{ ...member, ID: undefined }]],
    ['a name that is a number', [{ ...member, name: 7 }]],
    ['URLs that are a text', [{ ...member, peerURLs: 'http://a:2380' }]],
    ['URLs that are null', [{ ...member, peerURLs: [null] }]],
    ['more than there can be', Array.from({ length: 65 }, () => member)],
  ])('of %s is not etcd’s, and leaves a change in doubt', async (_, members) => {
    const admin = await adminOf(says({ header, members }));
    const list = admin.members.list({ isLinearizable: true });
    await expect(list).rejects.toMatchObject({ reason: 'NOT_ETCD', code: 'ETCD_UNAVAILABLE' });
    const remove = admin.members.remove('8');
    const doubt = { reason: 'NOT_ETCD', code: 'ETCD_IN_DOUBT', isInDoubt: true };
    await expect(remove).rejects.toMatchObject(doubt);
  });
});

describe('an answer without end', () => {
  test.each<[string, string]>([
    ['in large pieces', 'x'.repeat(65_536)],
    ['in pieces of one byte', 'x'],
    ['of white space', ' '.repeat(65_536)],
  ])('%s is read no further than its bound, and hung up on', async (_, piece) => {
    const sent = Promise.withResolvers<number>();
    const admin = await adminOf(floods(piece, sent.resolve));
    await expect(admin.status()).rejects.toMatchObject({
      reason: 'NOT_ETCD',
      message: expect.stringContaining('more than 262144 bytes'),
    });
    // Buffers of both ends come on top.
    expect(await sent.promise).toBeLessThan(16 * 2 ** 20);
  });

  test('is held in as many bytes as it has, whatever its pieces', async () => {
    async function* pieces(): AsyncGenerator<Buffer> {
      for (const byte of Buffer.from('zwölf Boxkämpfer'.repeat(1_000))) yield Buffer.of(byte);
    }
    expect(await readText(pieces(), 18_000)).toBe('zwölf Boxkämpfer'.repeat(1_000));
    expect(await readText(pieces(), 17_999)).toBeUndefined();
  });
});
