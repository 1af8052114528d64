// Senders by token: a token of the cluster, for our audience, in its time, of a sender that is
// named. All others are refused, and while tokens cannot be checked everybody is.
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Started, postEvent, started } from '../started.ts';
import { AUDIENCE, MovedClock, SUBJECT, TestIssuer, makeKey } from './issuer.ts';

const SETTINGS = { SENDER_AUDIENCE: AUDIENCE, SENDER_SUBJECTS: SUBJECT };
const key = await makeKey('one');
const other = await makeKey('two');

let clock: MovedClock;
let issuer: TestIssuer;
let running: Started;

beforeEach(async () => {
  clock = new MovedClock();
  issuer = new TestIssuer(clock);
  issuer.keys = [key];
  await issuer.open();
  running = await start();
});
afterEach(async () => {
  await running.stop();
  await issuer.close();
});

const start = (more: Readonly<Record<string, string>> = {}): Promise<Started> =>
  started({ readApiServer: issuer.read }, { ...SETTINGS, ...more }, clock);

async function send(token: string | undefined, to = running): Promise<Response> {
  return postEvent(to.url, token === undefined ? {} : { authorization: `Bearer ${token}` });
}

async function refusal(answer: Response): Promise<string> {
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  const { code } = (await answer.json()) as { code: string };
  return `${answer.status} ${code}`;
}

describe('a sender with a token', () => {
  it('of the issuer, for the function and in time is let in', async () => {
    expect((await send(await issuer.token(key))).status).toBe(204);
  });

  it('is looked at once, and the issuer asked once, however many events it sends', async () => {
    const token = await issuer.token(key);
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(token)));

    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 204));
    expect(issuer.questions).toBe(1);
  });

  it('may have it signed with an elliptic curve, as API servers can be told to', async () => {
    const curve = await makeKey('curve', 'ES256');
    issuer.keys = [curve];
    expect((await send(await issuer.token(curve))).status).toBe(204);
  });

  it.each([
    ['for another audience', { aud: ['somebody-else'] }],
    ['from another issuer', { iss: 'https://elsewhere.example' }],
    ['that has expired', { exp: 1_000_000_000 }],
    ['that is not valid yet', { nbf: 4_000_000_000 }],
    ['without an end', { exp: undefined }],
    ['without a subject', { sub: undefined }],
  ])('%s gets 401', async (_, claims) => {
    const answer = await send(await issuer.token(key, claims));

    expect(answer.headers.get('www-authenticate')).toMatch(
      /^Bearer realm="ballast", error="invalid_token", error_description="[^"]+"$/,
    );
    expect(await refusal(answer)).toBe('401 SENDER_TOKEN_INVALID');
  });

  it('that another key has signed gets 401, under its own name and under ours', async () => {
    const past = Math.floor(clock.nowMs() / 1_000) - 60;
    const stranger = await issuer.token(other, { iat: past });
    const forger = await issuer.token({ ...other, kid: key.kid });

    expect(await refusal(await send(forger))).toBe('401 SENDER_TOKEN_INVALID');
    expect(await refusal(await send(stranger))).toBe('401 SENDER_TOKEN_INVALID');
  });

  it('that nobody has signed, or the public key as a password, gets 401', async () => {
    const [, payload = ''] = (await issuer.token(key)).split('.');
    const header = (alg: string): string =>
      Buffer.from(JSON.stringify({ alg, kid: key.kid })).toString('base64url');
    const hmac = createHmac('sha256', JSON.stringify(key.jwk))
      .update(`${header('HS256')}.${payload}`)
      .digest('base64url');
    const bad = [
      `${header('none')}.${payload}.`,
      `${header('HS256')}.${payload}.${hmac}`,
      'none-at-all',
    ];
    for (const token of bad) expect((await send(token)).status).toBe(401);
  });

  it('of a key that nobody knows gets 401 whatever it says, if it can be read or not', async () => {
    await send(await issuer.token(key));
    const header = Buffer.from(JSON.stringify({ alg: 'RS256', kid: 'made-up' }));
    const payloads = ['no JSON', '[]', '{"iat":"soon"}', '{}'];
    for (const payload of payloads) {
      const parts = [header, payload, 'x'].map((part) => Buffer.from(part).toString('base64url'));
      expect(await refusal(await send(parts.join('.')))).toBe('401 SENDER_TOKEN_INVALID');
    }
  });

  it('of another subject gets 403, unless a pattern has it', async () => {
    const token = await issuer.token(key, { sub: 'system:serviceaccount:elsewhere:changes' });
    expect(await refusal(await send(token))).toBe('403 SENDER_SUBJECT_FORBIDDEN');

    const wide = await start({ SENDER_SUBJECTS: 'nobody, system:serviceaccount:elsewhere:*' });
    expect((await send(token, wide)).status).toBe(204);
    await wide.stop();
  });

  it('is not believed longer than the token says', async () => {
    const token = await issuer.token(key);
    expect((await send(token)).status).toBe(204);
    clock.aheadMs += 3_640_000;
    expect(await refusal(await send(token))).toBe('401 SENDER_TOKEN_INVALID');
  });
});

describe('a sender without one', () => {
  it.each([
    ['nothing', {}],
    ['a password', { authorization: 'Basic YTpi' }],
    ['no token behind the word', { authorization: 'Bearer ' }],
  ])('but %s gets 401 and is asked for one', async (_, headers) => {
    const answer = await postEvent(running.url, headers);

    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="ballast"');
    expect(await refusal(answer)).toBe('401 SENDER_TOKEN_MISSING');
  });

  it('may ask for health, metrics and what the function is', async () => {
    for (const path of ['/health/liveness', '/health/readiness', '/metrics', '/']) {
      expect((await fetch(`${running.url}${path}`)).status).toBe(200);
    }
  });

  it('may ask for health and metrics only where plain HTTP is for senders', async () => {
    const strict = await start({ SENDERS_ONLY: 'true' });
    const authorization = `Bearer ${await issuer.token(key)}`;

    expect((await fetch(`${strict.url}/metrics`)).status).toBe(200);
    expect(await refusal(await fetch(strict.url))).toBe('401 SENDER_TOKEN_MISSING');
    expect((await fetch(strict.url, { headers: { authorization } })).status).toBe(200);
    await strict.stop();
  });
});

describe('the keys of the issuer', () => {
  it('may change: a token of a new one is let in, one of a removed one no more', async () => {
    const old = await issuer.token(key);
    expect((await send(old)).status).toBe(204);
    clock.aheadMs += 11_000;
    issuer.keys = [other];

    expect((await send(await issuer.token(other))).status).toBe(204);
    clock.aheadMs += 600_000;
    expect(await refusal(await send(old))).toBe('401 SENDER_TOKEN_INVALID');
  });

  it('that was taken back ends what it has signed, though nobody shows another', async () => {
    const token = await issuer.token(key);
    expect((await send(token)).status).toBe(204);
    issuer.keys = [other];
    clock.aheadMs += 601_000;
    expect(await refusal(await send(token))).toBe('401 SENDER_TOKEN_INVALID');
  });

  it('that came a moment ago cost their sender a repetition, and not the event', async () => {
    expect((await send(await issuer.token(key))).status).toBe(204);
    issuer.keys = [other];
    clock.aheadMs += 2_000;
    const token = await issuer.token(other);
    const answer = await send(token);

    expect(answer.headers.get('retry-after')).toBe('5');
    expect(await refusal(answer)).toBe('503 SENDER_KEYS_UNAVAILABLE');
    clock.aheadMs += 9_000;
    expect((await send(token)).status).toBe(204);
  });

  it('may be of an API server whose clock is behind ours', async () => {
    expect((await send(await issuer.token(key))).status).toBe(204);
    issuer.keys = [other];
    const behind = Math.floor(clock.nowMs() / 1_000) - 20;
    const answer = await send(await issuer.token(other, { iat: behind, nbf: behind }));
    expect(await refusal(answer)).toBe('503 SENDER_KEYS_UNAVAILABLE');
  });

  it('are not asked for again for each stranger with keys of his own', async () => {
    for (let index = 0; index < 10; index += 1) {
      await send(await issuer.token({ ...other, kid: `made-up-${index}` }));
    }
    expect(issuer.questions).toBe(1);
  });

  it.each([
    ['cannot be had', () => issuer.close()],
    ['are no keys', () => Object.assign(issuer, { keys: [{ jwk: 'x' }] })],
    ['have no issuer', () => Object.assign(issuer, { discovery: {} })],
  ])('when they %s, nobody is let in and all may come again', async (_, spoil) => {
    await spoil();
    const answer = await send(await issuer.token(key));

    expect(answer.headers.get('retry-after')).toBe('5');
    expect(await refusal(answer)).toBe('503 SENDER_KEYS_UNAVAILABLE');
    await issuer.close();
    Object.assign(issuer, { keys: [key], discovery: { issuer: 'https://kubernetes.default.svc' } });
    await issuer.open();
    expect((await send(await issuer.token(key))).status).toBe(204);
  });
});

describe('the configuration', () => {
  it.each([
    ['an audience without subjects', { SENDER_AUDIENCE: 'a' }, /nobody could send/],
    ['subjects without an audience', { SENDER_SUBJECTS: 'a' }, /no token would be looked at/],
  ])('with %s is refused at the start', async (_, settings, reason) => {
    await expect(started({ readApiServer: issuer.read }, settings)).rejects.toThrow(reason);
  });

  it('that asks for tokens is refused by a function that has no API server', async () => {
    await expect(started({}, SETTINGS)).rejects.toThrow(/no API server to ask/);
  });
});
