// The minors before and after: the same calls, and the same words for refusals.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isEtcdFailure } from '../../../shared/etcd/admin/failure.ts';
import { EtcdCluster } from './cluster.ts';

const ROOT = { user: 'root', password: 'for-root' };

describe.each([
  { part: 'etcd-previous', version: /^3\.5\./, storageVersion: undefined, quotaBytes: undefined },
  { part: 'etcd-next', version: /^3\.7\./, storageVersion: '3.7.0', quotaBytes: 2 ** 31 },
] as const)('$part', ({ part, version, storageVersion, quotaBytes }) => {
  let cluster: EtcdCluster;

  beforeAll(async () => {
    cluster = await EtcdCluster.start(3, { part });
  });

  afterAll(async () => {
    await cluster?.stop();
  });

  test('tells its status, its members and its hashes', async () => {
    const status = await cluster.at(0).status();
    expect(status).toMatchObject({ version: expect.stringMatching(version), alarms: [] });
    await expect
      .poll(async () => (await cluster.at(0).status()).storageVersion)
      .toBe(storageVersion);
    expect(status.quotaBytes).toBe(quotaBytes);
    const { members } = await cluster.admin().members.list({ isLinearizable: true });
    expect(members).toHaveLength(3);
    const { revision = '' } = await cluster.admin().keys.put('probe', 'one');
    const { hash, compactRevision } = await cluster.at(0).hashKv('0');
    expect([hash, compactRevision]).toEqual([expect.any(Number), '0']);
    expect((await cluster.at(0).hash()).hash).toBeGreaterThan(0);
    expect((await cluster.at(0).hashKv('1')).hashRevision).toBe(
      part === 'etcd-next' ? '1' : undefined,
    );
    expect(await cluster.admin().alarms.list()).toEqual([]);
    await cluster.admin().keys.compact(revision, { isPhysical: true });
    const past = cluster.at(0).hashKv('1');
    await expect(past).rejects.toMatchObject({ reason: 'COMPACTED', isInDoubt: false });
  });

  test('takes changes of keys, members and leadership, or says why not', async () => {
    const { keys, members } = cluster.admin();
    expect(await keys.swap('probe', { value: 'one' }, 'two')).toMatchObject({ isDone: true });
    expect(await keys.countParts('', { partsMax: 9 })).toMatchObject({ isWhole: true });
    const learn = async (): Promise<string> => {
      try {
        return (await members.addLearner(['http://127.0.0.1:1'])).id;
      } catch (error) {
        if (isEtcdFailure(error, 'UNHEALTHY')) return '';
        throw error;
      }
    };
    await expect.poll(learn).not.toBe('');
    const many = { reason: 'TOO_MANY_LEARNERS', isInDoubt: false };
    await expect(members.addLearner(['http://127.0.0.1:2'])).rejects.toMatchObject(many);
    const { members: all } = await members.list({ isLinearizable: false });
    const learner = all.find(({ isLearner }) => isLearner)?.id ?? '';
    const early = { reason: 'LEARNER_NOT_READY', isInDoubt: false };
    await expect(members.promote(learner)).rejects.toMatchObject(early);
    await members.remove(learner);
    const index = await cluster.leader();
    const other = (index + 1) % 3;
    const { memberId } = (await cluster.at(other).status()).header;
    await cluster.at(index).moveLeader(memberId);
    expect(await cluster.leader()).toBe(other);
    await cluster.at(index).defragment({ timeoutMs: 10_000 });
    const far = { reason: 'DOWNGRADE_TARGET', isInDoubt: false };
    await expect(cluster.admin().downgrade.validate('3.1')).rejects.toMatchObject(far);
  });

  test('asks for a login once it is told to', async () => {
    const { auth, users } = cluster.admin();
    await users.add(ROOT);
    await users.grant('root', 'root');
    await auth.enable();
    const nobody = { reason: 'NO_LOGIN', isInDoubt: false };
    await expect(cluster.at(0).keys.get('probe')).rejects.toMatchObject(nobody);
    const admin = cluster.admin({ login: ROOT });
    expect((await admin.keys.get('probe')).found?.value.toString()).toBe('two');
    await admin.auth.disable();
  });
});
