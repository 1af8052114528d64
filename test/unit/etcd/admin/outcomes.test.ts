// A failed call to etcd tells the reason, and whether a change may have been made all the same; no
// other member is asked to make it then.
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type EtcdAdmin, openEtcdAdmin } from '../../../../shared/etcd/admin.ts';
import {
  breaksOff,
  hangs,
  type Manner,
  poseAsEtcd,
  type PosingEtcd,
  refuses,
  says,
} from '../../../builders/posing-etcd.ts';

const opened: EtcdAdmin[] = [];

afterEach(async () => {
  for (const admin of opened.splice(0)) await admin.close();
});

const header = { cluster_id: '1', member_id: '2', raft_term: '2' };
const members = says({ header, members: [{ ID: '2', peerURLs: ['http://a:2380'] }] });
/** Nobody listens there. */
const NOBODY = 'http://127.0.0.1:9';

async function cluster(
  ...manners: readonly Manner[]
): Promise<{ readonly admin: EtcdAdmin; readonly servers: readonly PosingEtcd[] }> {
  const servers = await Promise.all(manners.map(poseAsEtcd));
  const admin = openEtcdAdmin({ endpoints: servers.map(({ url }) => url) });
  opened.push(admin);
  return { admin, servers };
}

const list = (admin: EtcdAdmin, timeoutMs?: number): Promise<unknown> =>
  admin.members.list({ isLinearizable: true, timeoutMs });

describe('a refusal', () => {
  test.each<[string, number, string]>([
    ['etcdserver: member not found', 5, 'MEMBER_NOT_FOUND'],
    ['etcdserver: Peer URLs already exists', 9, 'MEMBER_EXISTS'],
    ['etcdserver: too many learner members in cluster', 9, 'TOO_MANY_LEARNERS'],
    [
      'etcdserver: can only promote a learner member which is in sync with leader',
      9,
      'LEARNER_NOT_READY',
    ],
    ['etcdserver: unhealthy cluster', 14, 'UNHEALTHY'],
    [
      'etcdserver: re-configuration failed due to not enough started members',
      9,
      'NOT_ENOUGH_STARTED',
    ],
    ['etcdserver: mvcc: database space exceeded', 8, 'NOSPACE'],
    ['etcdserver: corrupt cluster', 15, 'CORRUPT'],
    ['etcdserver: permission denied', 7, 'PERMISSION_DENIED'],
    ['etcdserver: something new', 9, 'OTHER'],
  ])('%s is final: nothing was done', async (message, code, reason) => {
    const { admin, servers } = await cluster(refuses(message, code, 503), members);
    const refused = { reason, code: 'ETCD_REFUSED', isInDoubt: false };
    await expect(admin.members.remove('2')).rejects.toMatchObject(refused);
    await expect(list(admin)).rejects.toMatchObject(refused);
    expect(servers[1]?.asked).toEqual([]);
  });

  test.each<[string, number, string]>([
    ['etcdserver: request timed out', 14, 'TIMEOUT'],
    ['etcdserver: request timed out, possibly due to connection lost', 14, 'TIMEOUT'],
    ['context deadline exceeded', 4, 'TIMEOUT'],
    ['etcdserver: leader changed', 14, 'LEADER_CHANGED'],
    ['etcdserver: server stopped', 14, 'STOPPED'],
    ['error reading from server: EOF', 14, 'OTHER'],
    ['something new', 2, 'OTHER'],
  ])('%s leaves a change in doubt, and lets nobody else make it', async (message, code, reason) => {
    const { admin, servers } = await cluster(refuses(message, code, 503), members);
    const doubt = { reason, code: 'ETCD_IN_DOUBT', isInDoubt: true };
    await expect(admin.members.remove('2')).rejects.toMatchObject(doubt);
    expect(servers[1]?.asked).toEqual([]);
  });

  test.each<[string, number]>([
    ['etcdserver: no leader', 14],
    ['etcdserver: rpc not supported for learner', 9],
    [
      'connection error: desc = "transport: authentication handshake failed: tls: bad certificate"',
      14,
    ],
  ])('%s sends a change to the next member, since nothing was done', async (message, code) => {
    const { admin, servers } = await cluster(refuses(message, code, 503), members);
    await expect(admin.members.remove('2')).resolves.toMatchObject({ members: [{ id: '2' }] });
    expect(servers.map(({ asked }) => asked.length)).toEqual([1, 1]);
  });

  test.each<[string, Manner, string, boolean]>([
    ['a page that is not there', says('404 page not found', 404), 'NO_GATEWAY', false],
    ['a proxy that reaches nobody', says('<html>bad gateway', 502), 'OTHER', true],
    ['a proxy that forbids it', says('<html>forbidden', 403), 'OTHER', false],
    ['somewhere else', says('', 307), 'OTHER', true],
  ])('that is %s says so of a change', async (_, manner, reason, isInDoubt) => {
    const { admin } = await cluster(manner);
    await expect(admin.members.remove('2')).rejects.toMatchObject({ reason, isInDoubt });
  });

  test('of megabytes with line breaks is a short sentence', async () => {
    const { admin } = await cluster(refuses(`etcd\n\u001B[31m${'x'.repeat(200_000)}`));
    const failure: unknown = await list(admin).catch((error: unknown) => error);
    const { message } = failure as Error;
    expect(message.length).toBeLessThan(600);
    expect(message).not.toMatch(/\p{Cc}/u);
  });
});

describe('a member that', () => {
  test('is not there is passed over by a change, too', async () => {
    const { url, asked } = await poseAsEtcd(members);
    const admin = openEtcdAdmin({ endpoints: [NOBODY, url] });
    opened.push(admin);
    await admin.members.remove('2');
    expect(asked.map(({ path }) => path)).toEqual(['/v3/cluster/member/remove']);
  });

  test('answered last is asked first', async () => {
    const { admin, servers } = await cluster(refuses('etcdserver: no leader', 14, 503), members);
    for (let time = 0; time < 3; time += 1) await list(admin);
    expect(servers.map(({ asked }) => asked.length)).toEqual([1, 3]);
  });

  test.each<[string, Manner]>([
    ['breaks off', breaksOff],
    ['hangs', hangs],
    ['lies', says('null')],
  ])('%s is passed over when asked, and leaves a change in doubt', async (_, manner) => {
    const { admin, servers } = await cluster(manner, members);
    const change = admin.members.remove('2', { timeoutMs: 300 });
    await expect(change).rejects.toMatchObject({ code: 'ETCD_IN_DOUBT', isInDoubt: true });
    expect(servers[1]?.asked).toEqual([]);
    await expect(list(admin, 600)).resolves.toMatchObject({ members: [{ id: '2' }] });
  });

  test('is asked alone tells what it says, whatever the others would', async () => {
    const { admin, servers } = await cluster(members, refuses('etcdserver: no leader', 14, 503));
    const other = admin.at(servers[1]?.url ?? '');
    const refused = { reason: 'NO_LEADER', code: 'ETCD_UNAVAILABLE', isInDoubt: false };
    await expect(list(other)).rejects.toMatchObject(refused);
    expect(servers[0]?.asked).toEqual([]);
  });

  test('nobody reaches was certainly not asked to change anything', async () => {
    const admin = openEtcdAdmin({ endpoints: [NOBODY, 'http://127.0.0.1:10'] });
    opened.push(admin);
    const unreachable = {
      code: 'ETCD_UNAVAILABLE',
      reason: 'UNREACHABLE',
      isInDoubt: false,
      message: expect.stringMatching(/127\.0\.0\.1:9\b.*127\.0\.0\.1:10\b/),
    };
    await expect(admin.members.remove('2')).rejects.toMatchObject(unreachable);
    await expect(list(admin)).rejects.toMatchObject(unreachable);
  });

  test('never finishes the handshake was not asked either, when the time is over', async () => {
    const mute = createServer((socket) => void socket.on('error', () => undefined).resume());
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const { port } = mute.address() as AddressInfo;
    const admin = openEtcdAdmin({ endpoint: `https://127.0.0.1:${port}` });
    opened.push(admin);
    const change = admin.members.remove('2', { timeoutMs: 300 });
    const unreachable = { reason: 'UNREACHABLE', isInDoubt: false };
    await expect(change).rejects.toMatchObject(unreachable);
    mute.close();
  });
});

test('whoever has gone waits no longer, and hears the reason', async () => {
  const { admin } = await cluster(hangs, members);
  const gone = new Error('gone');
  const signal = AbortSignal.abort(gone);
  await expect(admin.members.list({ isLinearizable: true, signal })).rejects.toBe(gone);
  const ends = new AbortController();
  const waits = admin.members.remove('2', { signal: ends.signal });
  ends.abort(gone);
  await expect(waits).rejects.toBe(gone);
});
