// The checker of histories is checked: it finds what a store must not do, and finds nothing wrong
// with what clients of a real cluster saw while its leader died.
import { expect, test } from 'vitest';
import { checkHistory, type Operation, RecordedClient } from '../../builders/etcd-history.ts';
import { EtcdCluster } from './cluster.ts';

type Line = Partial<Operation> & Pick<Operation, 'op'>;

/** Each after the one before, by one client, unless they say otherwise. */
const history = (...lines: readonly Line[]): readonly Operation[] =>
  lines.map((line, index) => ({
    client: 0,
    key: 'a',
    call: index * 10,
    return: index * 10 + 5,
    outcome: 'ok',
    ...line,
  }));

const put = (value: string, more: Partial<Operation> = {}): Line => ({ op: 'put', value, ...more });
const get = (value?: string, more: Partial<Operation> = {}): Line => ({
  op: 'get',
  value,
  ...more,
});
const cas = (expected: string | undefined, value: string, swapped: boolean): Line => ({
  op: 'cas',
  expected,
  value,
  swapped,
});

const RIGHT: readonly Line[] = [
  get(),
  put('1', { revision: 2 }),
  get('1', { revision: 2 }),
  cas('1', '2', true),
  cas('1', '3', false),
  get('2'),
  { op: 'delete' },
  get(),
  cas(undefined, '4', true),
  get('4'),
];

test.each<[string, readonly Line[]]>([
  ['one after the other', RIGHT],
  ['at the same time, in whichever order', [put('1'), put('2', { call: 0 }), get('1')]],
  [
    'a write that was not done and that nobody sees',
    [put('1'), put('2', { outcome: 'failed' }), get('1')],
  ],
  ['a write in doubt that is seen', [put('1'), put('2', { outcome: 'unknown' }), get('2')]],
  ['a write in doubt that is never seen', [put('1'), put('2', { outcome: 'unknown' }), get('1')]],
  [
    'a write in doubt that is seen late',
    [put('1'), put('2', { outcome: 'unknown' }), get('1'), get('2'), get('2', { revision: 9 })],
  ],
  ['a swap in doubt', [put('1'), { ...cas('1', '2', false), outcome: 'unknown' }, get('2')]],
  ['a read that failed', [put('1'), get('7', { outcome: 'unknown' })]],
])('right: %s', async (_, lines) => {
  expect((await checkHistory(history(...lines))).result).toBe('linearizable');
});

test.each<[string, readonly Line[]]>([
  ['one read of what was never written', [...RIGHT, get('5')]],
  ['a write that was acknowledged and is lost', [put('1'), put('2'), get('1')]],
  ['a value that is gone', [put('1'), get()]],
  ['a deleted value that is back', [put('1'), { op: 'delete' }, get('1')]],
  ['a write that was certainly not done and is seen', [put('2', { outcome: 'failed' }), get('2')]],
  [
    'a write in doubt that is seen, and then not',
    [put('1'), put('2', { outcome: 'unknown' }), get('2'), get('1')],
  ],
  ['a swap of what was not there', [put('1'), cas('2', '3', true)]],
  ['a swap that was refused for nothing', [put('1'), cas('1', '3', false)]],
  ['the value of another write', [put('1', { revision: 5 }), get('1', { revision: 4 })]],
  ['a revision that goes back', [put('1', { revision: 5 }), put('2', { revision: 4 })]],
])('wrong: %s, and the key is told', async (_, lines) => {
  const others = history(...RIGHT).map((one) => ({ ...one, key: 'b' }));
  const told = await checkHistory([...others, ...history(...lines)]);
  expect(told).toMatchObject({ result: 'not linearizable', key: 'a' });
});

test('a history that takes too long is undecided', async () => {
  const lines = Array.from({ length: 40 }, (_, index) =>
    put(`${index}`, { client: index, call: 0, return: 100 }),
  );
  const reads = Array.from({ length: 20 }, (_, index) =>
    get(`${index * 2}`, { call: 101 + index, return: 500 }),
  );
  const told = await checkHistory(
    history(...lines, ...reads, get('none', { call: 600, return: 601 })),
    200,
  );
  expect(told).toMatchObject({ result: 'undecided', key: 'a' });
});

test.each<[string, Partial<Operation>]>([
  ['an operation that there is not', { op: 'watch' as 'get' }],
  ['an outcome that there is not', { outcome: 'maybe' as 'ok' }],
  ['a put of nothing', { op: 'put', value: undefined }],
  ['a return before its call', { call: 2, return: 1 }],
])('with %s it is no history', async (_, line) => {
  await expect(checkHistory(history(get(), { op: 'get', ...line }))).rejects.toThrow(/line 2: /);
});

test('clients of a real cluster see one store, also while its leader dies', async () => {
  await using cluster = await EtcdCluster.start(3);
  const operations: Operation[] = [];
  const ends = new AbortController();
  const clients = [0, 1, 2, 3].map(async (number) => {
    const client = new RecordedClient(cluster.admin(), operations, number);
    for (let turn = 0; !ends.signal.aborted; turn += 1) {
      const key = `key-${turn % 3}`;
      const value = `${number}.${turn}`;
      await client.put(key, value, 2_000);
      await client.get(key, 2_000);
      await client.swap(key, value, `${value}+`, 2_000);
      if (turn % 5 === number) await client.delete(key, 2_000);
    }
  });
  const acknowledged = (): number => operations.filter(({ outcome }) => outcome === 'ok').length;
  await expect.poll(acknowledged).toBeGreaterThan(100);
  const leader = await cluster.leader();
  await cluster.part(leader).kill();
  const before = acknowledged();
  await expect.poll(acknowledged).toBeGreaterThan(before + 100);
  ends.abort();
  await Promise.all(clients);
  const told = await checkHistory(operations);
  expect(told).toMatchObject({ result: 'linearizable' });
  expect(told.operations).toBeGreaterThan(200);
});
