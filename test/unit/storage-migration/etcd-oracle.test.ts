// When etcd and the API server are of one mind about what there is: only then does what etcd holds
// count for anything. The two are small stand-ins: a foreign etcd that fits by chance is rare.
import { expect, test } from 'vitest';
import type { EtcdAccess } from '../../../functions/storage-migration/deps.ts';
import { askEtcd } from '../../../functions/storage-migration/etcd-oracle.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { KubeError } from '../../../shared/kube/errors.ts';
import { target } from './samples.ts';

const REF = { group: 'example.com', version: 'v1', resource: 'widgets' };

interface World {
  /** The first object of the API server, and how many more it has. */
  readonly uid?: string;
  readonly more?: number;
  readonly refusal?: readonly [code: 'KUBE_EXPIRED' | 'KUBE_TIMEOUT', message: string];
  readonly revision?: string;
  readonly uids?: readonly string[];
}

function ask({ uid, more = 0, refusal, revision = '600', uids = [] }: World) {
  const list = async () => {
    if (refusal !== undefined) throw new KubeError(...refusal, { verb: 'list', ref: REF });
    const metadata = { name: 'w0', namespace: 'web', uid };
    return {
      items: uid === undefined ? [] : [{ metadata }],
      metadata: { remainingItemCount: more },
    };
  };
  const values = uids.map((one, index) => {
    const metadata = { name: `w${index}`, namespace: 'web', uid: one };
    const text = JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Widget', metadata });
    const head = Buffer.from(text);
    const key = `/registry/example.com/widgets/web/w${index}`;
    return { key, head, sizeBytes: head.length, whole: () => head };
  });
  const client = {
    endpoints: ['http://etcd:2379'],
    revision: async () => revision,
    async *entries() {
      yield values;
    },
  };
  const kube = { list } as unknown as KubeClient;
  const etcd = { client, prefixes: ['/registry'] };
  const access = etcd as unknown as EtcdAccess;
  const question = { kube, etcd: access, target: target(), since: '500', workMs: 5_000 };
  return askEtcd(question, AbortSignal.timeout(5_000));
}

const ANOTHER = { result: 'unusable', why: { reason: 'EtcdIsAnother' } };
const TOO_LARGE = 'Too large resource version: 600, current: 550.';

test.each<[string, World, object]>([
  [
    'the same two objects',
    { uid: 'uid-a', more: 1, uids: ['uid-a', 'uid-b'] },
    { result: 'current', values: 2 },
  ],
  ['no objects at all', {}, { result: 'current', values: 0 }],
  ['one object less', { uid: 'uid-a', more: 1, uids: ['uid-a'] }, ANOTHER],
  ['one object more', { uid: 'uid-a', uids: ['uid-a', 'uid-b'] }, ANOTHER],
  ['another of the same name', { uid: 'uid-a', more: 1, uids: ['uid-x', 'uid-b'] }, ANOTHER],
  ['a revision before the pass', { uid: 'uid-a', uids: ['uid-a'], revision: '499' }, ANOTHER],
  [
    'a revision that is forgotten',
    { refusal: ['KUBE_EXPIRED', 'Gone.'], uids: ['uid-a'] },
    ANOTHER,
  ],
  ['a revision to come', { refusal: ['KUBE_TIMEOUT', TOO_LARGE], uids: ['uid-a'] }, ANOTHER],
])('etcd has %s', async (_what, world, answer) => {
  expect(await ask(world)).toMatchObject(answer);
});

test('what the API server refuses for another reason is for the caller', async () => {
  await expect(ask({ refusal: ['KUBE_TIMEOUT', 'No answer.'] })).rejects.toThrow('No answer.');
});
