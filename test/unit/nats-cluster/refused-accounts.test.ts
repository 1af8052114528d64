// Edits of accounts that would take streams out of reach: refused before anything is rolled, with
// the streams named; and a revert is all it takes to be well again.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/nats-cluster/decide.ts';
import type { PartKey } from '../../../functions/nats-cluster/render/manifests.ts';
import type { Account } from '../../../shared/api/nats-cluster.ts';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { Run } from './model/run.ts';
import { NAMESPACE } from './model/cluster-model.ts';
import { type Row, shown, silent } from './rows.ts';
import { type Differences, misconfigured, peer, stream, withGroups, state } from './samples.ts';

const account = (name: string, jetStream = true): Account => ({
  name,
  jetStream,
  users: [{ name, passwordSecret: { name: 'passwords', key: 'password' } }],
});
const PARTS = { accounts: ['SHOP'] };
const held = withGroups(stream({ stream: 'ORDERS' }));
const away = { servers: [{ name: 'nats-1', startingSince: '2026-01-01T23:59:00Z' }] };

const lost: Differences = {
  parts: { ...PARTS, lost: new Map([['nats-1', 'It is lost.']]) },
  pods: (pods) => pods.map((one) => (one.name === 'nats-1' ? { ...one, isReady: false } : one)),
  nats: silent('nats-1'),
};
/** Parts that are there, and not as they are to be. */
const unlike = (...keys: readonly PartKey[]) =>
  (state().parts.rendered?.parts ?? []).filter(({ key }) => keys.includes(key));

const ROWS: readonly Row[] = [
  [
    'an account with a stream that goes is refused',
    { spec: { accounts: [account('OTHER')] }, parts: PARTS, nats: held },
    'wait: Take SHOP from the accounts [AccountInUse] !AccountInUse',
  ],
  [
    'one that loses its JetStream too',
    { spec: { accounts: [account('SHOP', false)] }, parts: PARTS, nats: held },
    'wait: Take SHOP from the accounts [AccountInUse] !AccountInUse',
  ],
  [
    'and the account of a spec that named none',
    {
      spec: { accounts: [account('SHOP')] },
      parts: { accounts: ['DEFAULT'] },
      nats: withGroups(stream({ account: 'DEFAULT' })),
    },
    'wait: Take DEFAULT from the accounts [AccountInUse] !AccountInUse',
  ],
  [
    'one that goes while the configuration of before is lost, since servers tell what they hold',
    { spec: { accounts: [account('OTHER')] }, parts: { accounts: undefined }, nats: held },
    'wait: Take SHOP from the accounts [AccountInUse] !AccountInUse',
  ],
  [
    'and a server that is silent may wait for the lost one',
    { spec: { accounts: [account('B')] }, parts: { accounts: undefined }, nats: silent('nats-1') },
    'wait: Nothing [ServerAway]',
  ],
  [
    'a stream that is waived holds no account',
    {
      spec: { accounts: [account('B')], waive: [{ account: 'SHOP', stream: 'ORDERS' }] },
      parts: PARTS,
      nats: held,
    },
    'wait: Nothing',
  ],
  [
    'an account without streams goes',
    { spec: { accounts: [account('B')] }, parts: PARTS },
    'wait: Nothing',
  ],
  [
    'not while a server that may have one alone is silent',
    { spec: { accounts: [account('B')] }, parts: PARTS, nats: silent('nats-1') },
    'wait: Take SHOP from the accounts [ServerAway]',
  ],
  [
    'which goes on being looked after: a lost volume is replaced',
    { ...lost, spec: { accounts: [account('B')] } },
    'write-records: Replace the volume of nats-1',
  ],
  [
    'and what servers are not made of is kept',
    {
      spec: { accounts: [account('B')] },
      parts: { ...PARTS, wrong: unlike('config', 'service', 'statefulSet') },
      nats: silent('nats-1'),
    },
    'apply: Create Service nats',
  ],
  [
    'no server is told of it meanwhile',
    {
      spec: { accounts: [account('B')] },
      parts: { ...PARTS, wrong: unlike('config', 'statefulSet') },
      nats: (nats) => misconfigured('nats-0', 'nats-2')(silent('nats-1')(nats)),
    },
    'wait: Take SHOP from the accounts [ServerAway]',
  ],
  [
    'a server that never joined has none',
    {
      spec: { accounts: [account('B')] },
      parts: PARTS,
      status: away,
      nats: (nats) => ({
        ...silent('nats-1')(nats),
        meta: { leader: 'nats-0', size: 2, peers: [peer('nats-0'), peer('nats-2')] },
      }),
    },
    'wait: Start new servers [ServerAway]',
  ],
];

test.each(ROWS)('%s', (_what, differences, decision) => {
  expect(shown(decide(state(differences)))).toBe(decision);
});

test('the refusal names streams, at most a few of them', () => {
  const streams = Array.from({ length: 5_000 }, (_, index) => stream({ stream: `S${index}` }));
  const nats = withGroups(...streams);
  const { trouble } = decide(state({ spec: { accounts: [account('B')] }, parts: PARTS, nats }));
  expect(trouble?.message).toContain('S0 of SHOP, S1 of SHOP');
  expect(trouble?.message).toContain('and 4992 more');
});

const DAY_MS = 86_400_000;

test.each([
  ['a month', 29 * DAY_MS, / Renewed certificates wait for it: those of the servers end at 2026-/],
  ['later', 31 * DAY_MS, /Nothing is changed before\.$/],
])('a refusal says when certificates end that wait for it, in %s', (_when, ms, message) => {
  const { nowMs } = state();
  const parts = { ...PARTS, servedUntilMs: nowMs + ms };
  const { trouble } = decide(state({ spec: { accounts: [account('B')] }, parts, nats: held }));
  expect(trouble?.message).toMatch(message);
});

test('certificates that wait for a refused edit are told with their day', async () => {
  const run = new Run();
  run.edit({ tls: { clients: {} } });
  await run.converge();
  run.model.addStream('ORDERS', ['nats-0', 'nats-1', 'nats-2']);
  await run.converge();
  run.edit({ accounts: [account('OTHER')] });
  run.model.nowMs += 65 * DAY_MS;
  for (let sweeps = 0; sweeps < 4; sweeps += 1) await run.sweep();
  expect(run.condition('Degraded')?.message).toContain('those of the servers end at');
});

test('an account with a stream that goes changes no server, and a revert heals it', async () => {
  const run = new Run();
  const metadata = { namespace: NAMESPACE, name: 'passwords' };
  const data = { password: Buffer.from('one').toString('base64') };
  run.model.kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, data });
  await run.converge();
  run.model.addStream('ORDERS', ['nats-0', 'nats-1', 'nats-2']);
  await run.converge();
  const writes = run.writes.length;
  run.edit({ accounts: [account('SHOP')] });
  for (let sweeps = 0; sweeps < 4; sweeps += 1) await run.sweep();
  expect(run.condition('Degraded')).toMatchObject({ status: 'True', reason: 'AccountInUse' });
  expect(run.condition('Degraded').message).toContain('ORDERS of DEFAULT');
  expect(run.warnings).toEqual(['AccountInUse']);
  const isStatus = (write: string): boolean => write.includes('natsclusters/status');
  expect(run.writes.slice(writes).filter((one) => !isStatus(one))).toEqual([]);
  run.edit({ accounts: [] });
  await run.converge();
  expect(run.condition('Degraded').status).toBe('False');
});
