// A login of NATS is checked before any server sees it; a file that cannot be used is named, and
// its content never shown.
import { nkeys } from 'nats';
import { expect, test } from 'vitest';
import type { NatsAccess } from '../../../shared/nats/access.ts';
import * as client from '../../../shared/nats/client.ts';
import { loginOf } from '../../../shared/nats/login.ts';
import { makeAuthority } from '../../../shared/x509.ts';
import { credsFile, makeOperator } from '../../builders/nats-jwt.ts';

const seedOf = (keys: { getSeed(): Uint8Array }): string => Buffer.from(keys.getSeed()).toString();
const seed = seedOf(nkeys.createUser());
const creds = makeOperator().creds('agent-1', { publish: ['a'], subscribe: ['b'] });
const [, jwt = ''] = creds.split('\n');
const validity = { fromMs: Date.now(), toMs: Date.now() + 60_000 };
const [one, other] = [makeAuthority('one', validity), makeAuthority('other', validity)];
const URL = 'tls://nats.shop.svc:4222';

test.each<[string, string, NatsAccess, string]>([
  ['an NKey beside a password', 'tls://u:p@h:1', { nkey: seed }, 'a login in its url and nkey'],
  ['a JWT beside a token', 'tls://t@h:1', { 'nats.creds': creds }, 'its url and nats.creds'],
  ['a JWT beside an NKey', URL, { 'nats.creds': creds, nkey: seed }, 'nats.creds and nkey'],
  ['a seed that was cut', URL, { nkey: seed.slice(0, 30) }, 'no seed of a user in nkey'],
  ['a seed with a letter changed', URL, { nkey: `${seed.slice(0, -1)}!` }, 'no seed of a user'],
  ['the seed of an account', URL, { nkey: seedOf(nkeys.createAccount()) }, 'no seed of a user'],
  ['a public key', URL, { nkey: nkeys.createUser().getPublicKey() }, 'no seed of a user in nkey'],
  ['an empty file', URL, { nkey: '' }, 'no seed of a user in nkey'],
  ['a JWT alone', URL, { 'nats.creds': jwt }, 'has no nats.creds that holds'],
  ['a seed in place of both', URL, { 'nats.creds': seed }, 'has no nats.creds that holds'],
  ['a JWT that is none', URL, { 'nats.creds': credsFile('a.b.c', seed) }, 'has no nats.creds'],
  ['the seed of another', URL, { 'nats.creds': credsFile(jwt, seed) }, 'is not of its JWT'],
  ['no certificate', URL, { 'ca.crt': 'mine' }, 'no certificate in ca.crt'],
  ['a key in place of it', URL, { 'ca.crt': one.keyPem }, 'no certificate in ca.crt'],
  ['half of two', URL, { 'tls.crt': one.certPem }, 'has no tls.key'],
  ['the other half', 'nats://h:1', { 'tls.key': one.keyPem }, 'has no tls.crt'],
  ['halves of two', URL, { 'tls.crt': one.certPem, 'tls.key': other.keyPem }, 'belong together'],
])('%s is refused, and not shown', (_, url, access, why) => {
  const secrets = [seed, jwt, one.keyPem, other.keyPem].flatMap((text) => [
    text,
    text.slice(0, 30),
  ]);
  const refusal = refusalOf(url, access);
  expect(refusal).toContain(why);
  for (const secret of secrets) expect(refusal).not.toContain(secret);
});

function refusalOf(url: string, access: NatsAccess): string {
  try {
    loginOf(client, url, access);
  } catch (error) {
    return String(error);
  }
  throw new Error('it was taken');
}

test.each<[string, string, NatsAccess, string]>([
  ['nobody', 'nats://h:1', {}, '_INBOX'],
  ['a user', 'nats://agent-1:p@h:1', {}, '_INBOX.agent-1'],
  ['an NKey', URL, { nkey: seed }, `_INBOX.${nkeys.fromSeed(Buffer.from(seed)).getPublicKey()}`],
  ['a JWT', URL, { 'nats.creds': creds }, '_INBOX.agent-1'],
])('answers for %s arrive where the rights let them', (_, url, access, inbox) => {
  expect(loginOf(client, url, access).inboxPrefix).toBe(inbox);
});
