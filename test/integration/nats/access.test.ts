// Ways into NATS beside a password, with real servers: an authority of one's own, certificates of
// clients, NKeys and JWTs, and what is told when one of them is wrong.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, credsAuthenticator, nkeys } from 'nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import { accessFiles, type NatsAccess } from '../../../shared/nats/access.ts';
import { type Replica, openReplica } from '../../../shared/nats/replica/replica.ts';
import { inboxOf, readerRights, STREAM_API } from '../../../shared/nats/rights.ts';
import { FeedWriter } from '../../builders/feed-writer.ts';
import { makeOperator } from '../../builders/nats-jwt.ts';
import {
  CA,
  certificateFor,
  nextAuthority,
  OTHER_CA,
  type SecuredNats,
  startSecuredNats,
} from '../../builders/secured-nats.ts';
import { heldBy, node1, PATIENCE, pod } from '../replica/world.ts';

const MINE = ['node.n1.pods.web.mine'];
const user = nkeys.createUser();
const seed = Buffer.from(user.getSeed()).toString();
const key = user.getPublicKey();
const operator = makeOperator();
const everything = { publish: ['>'], subscribe: ['>'] };
const ours = certificateFor('agent');
/** The client itself compares an address with localhost. */
const BELIEVED = { ca: CA, checkServerIdentity: () => undefined };

let plane: Plane;
let byKey: SecuredNats;
let byJwt: SecuredNats;
let directory = '';
const open: { close(): Promise<void> }[] = [];

/** A user whose rights are just those of a reader of one node, with his own inbox. */
const readerOf = (name: string) => readerRights('f', node1, inboxOf(name), STREAM_API);

beforeAll(async () => {
  plane = await startPlane({ parts: [] });
  directory = await mkdtemp(join(tmpdir(), 'ballast-access-'));
  const { publish, subscribe } = readerOf(key);
  const admin = { user: 'admin', password: 'admin' };
  const users = [admin, { nkey: key, permissions: { publish, subscribe } }];
  byKey = await startSecuredNats(plane, 'by-key', { authorization: { users } });
  byJwt = await startSecuredNats(plane, 'by-jwt', operator.config, true);
  await fill(byKey, { ...admin, pass: 'admin', tls: BELIEVED });
  const authenticator = credsAuthenticator(Buffer.from(operator.creds('admin', everything)));
  const shown = { cert: ours.certPem, key: ours.keyPem };
  await fill(byJwt, { authenticator, tls: { ...BELIEVED, ...shown } });
}, 60_000);

afterAll(async () => {
  await Promise.all(open.map((one) => one.close()));
  await plane?.stop();
  await rm(directory, { recursive: true, force: true });
});

async function fill({ url }: SecuredNats, options: object): Promise<void> {
  const nats = await connect({ servers: new URL(url).host, ...options, maxReconnectAttempts: -1 });
  const feed = new FeedWriter(nats, 'f');
  open.push(feed);
  await feed.begin();
  await feed.put(node1, pod('mine'));
}

function reader(url: string, access: NatsAccess): Replica {
  const from = 'Secret feeds/reader';
  return replicaOf(url, { from, read: () => access });
}

function replicaOf(url: string, access: Parameters<typeof openReplica>[0]['access']): Replica {
  const replica = openReplica({ url, access, feed: 'f', scope: node1, apiPrefix: STREAM_API });
  open.push(replica);
  return replica;
}

async function readBy(replica: Replica): Promise<readonly string[]> {
  await replica.whenCurrent({ signal: AbortSignal.timeout(PATIENCE.timeout) });
  return Object.keys(heldBy(replica));
}

test('an NKey reads with the rights of its inbox, over TLS of its own authority', async () => {
  expect(await readBy(reader(byKey.url, { 'ca.crt': CA, nkey: `${seed}\n` }))).toEqual(MINE);
});

test('a JWT reads with the rights of its name, and shows a certificate', async () => {
  const access = { 'ca.crt': CA, 'tls.crt': ours.certPem, 'tls.key': ours.keyPem };
  const creds = operator.creds('agent-1', readerOf('agent-1'));
  expect(await readBy(reader(byJwt.url, { ...access, 'nats.creds': creds }))).toEqual(MINE);
});

test.each<[string, () => SecuredNats, NatsAccess, RegExp]>([
  [
    'an authority that nobody knows',
    () => byKey,
    { nkey: seed },
    /add the authority as ca\.crt to Secret feeds\/reader/,
  ],
  [
    'another authority',
    () => byKey,
    { nkey: seed, 'ca.crt': OTHER_CA },
    /none of the authorities in ca\.crt; put the right one into Secret feeds\/reader/,
  ],
  [
    'an NKey that the server does not know',
    () => byKey,
    { nkey: Buffer.from(nkeys.createUser().getSeed()).toString(), 'ca.crt': CA },
    /does not take the credentials/,
  ],
  [
    'a JWT of another operator',
    () => byJwt,
    {
      'nats.creds': makeOperator().creds('x', everything),
      'ca.crt': CA,
      'tls.crt': ours.certPem,
      'tls.key': ours.keyPem,
    },
    /does not take the credentials/,
  ],
  [
    'no certificate where one is asked for',
    () => byJwt,
    { 'nats.creds': operator.creds('x', everything), 'ca.crt': CA },
    /add tls\.crt and tls\.key to Secret feeds\/reader/,
  ],
  [
    'two ways at once',
    () => byKey,
    { nkey: seed, 'nats.creds': 'any', 'ca.crt': CA },
    /Secret feeds\/reader has nats\.creds and nkey, and one user has one of them/,
  ],
])('%s is told with what to do', async (_, server, access, why) => {
  const replica = reader(server().url, access);
  await expect.poll(() => replica.state.why, PATIENCE).toMatch(why);
  expect(replica.state.why).not.toContain(seed);
  expect(replica.catalog.size).toBe(0);
});

test('ca.crt asks for TLS, whatever the url says', async () => {
  const plain = await startPlane({ parts: ['nats-server'] });
  try {
    const replica = reader(plain.part('nats-server').url, { 'ca.crt': CA });
    await expect.poll(() => replica.state.why, PATIENCE).toMatch(/does not speak TLS/);
  } finally {
    await plain.stop();
  }
});

test('files that change while the server is away are used when it is back', async () => {
  await writeFile(join(directory, 'ca.crt'), CA);
  await writeFile(join(directory, 'nkey'), seed);
  const replica = replicaOf(byKey.url, accessFiles(directory));
  expect(await readBy(replica)).toEqual(MINE);
  await byKey.part.stop();
  await byKey.show(certificateFor('127.0.0.1', nextAuthority));
  await byKey.part.start();
  await expect.poll(() => replica.state.why, PATIENCE).toBeDefined();
  await writeFile(join(directory, 'ca.crt'), nextAuthority.certPem);
  expect(await readBy(replica)).toEqual(MINE);
  await byKey.part.stop();
  await byKey.show(certificateFor('localhost', nextAuthority));
  await byKey.part.start();
  // An address is a name, too: the client alone would have compared with localhost.
  const other = replicaOf(byKey.url, accessFiles(directory));
  await expect.poll(() => other.state.why, PATIENCE).toMatch(/a certificate for another name/);
});
