// Senders' tokens from the real API server: issued by its TokenRequest, told from others by the
// keys that it names itself, read with the rights that every service account has.
import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest';
import { locate } from '../../../functions/locate/index.ts';
import { storageAudit } from '../../../functions/storage-audit/index.ts';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { readJson } from '../../../shared/kube/read-json.ts';
import { MovedClock, TestIssuer, makeKey } from '../../contract/senders/issuer.ts';
import { type Started, postEvent, started } from '../../contract/started.ts';
import { type Account, openAccount } from '../kube/narrow-cache/accounts.ts';
import { namespace, openTestKube } from '../kube/world.ts';

const AUDIENCE = 'https://metadata.ballast-system.svc';
const SENDER = 'changes-oidc';
const SETTINGS = {
  SENDER_AUDIENCE: AUDIENCE,
  SENDER_SUBJECTS: `system:serviceaccount:${namespace}:${SENDER}`,
};

let plane: Plane;
let admin: KubeClient;
let account: Account;
let clock: MovedClock;
let kube: KubeClient;
let running: Started;

beforeAll(async () => {
  plane = await startPlane({ parts: ['etcd', 'kube-apiserver'] });
  admin = openTestKube(plane);
  account = await openAccount(plane, admin, 'function');
  for (const name of [SENDER, 'stranger']) await openAccount(plane, admin, name);
});
afterAll(async () => {
  await admin.close();
  await plane.stop();
});
beforeEach(async () => {
  clock = new MovedClock();
  kube = openKube({
    userAgent: 'test',
    fieldManager: 'test',
    kubeconfigPath: account.kubeconfigPath,
  });
  const open = (): { kube: KubeClient } => ({ kube });
  running = await started({ open, readApiServer: readJson }, SETTINGS, clock);
});
afterEach(async () => {
  await running.stop();
  await kube.close();
});

/** The least that the API server gives a token is ten minutes. */
const LIFE_SECONDS = 600;

async function tokenOf(name: string, audience = AUDIENCE): Promise<string> {
  const { status } = await admin.createSubresource(
    { group: '', version: 'v1', resource: 'serviceaccounts' },
    { namespace, name, subresource: 'token' },
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [audience], expirationSeconds: LIFE_SECONDS },
    },
  );
  return (status as { token: string }).token;
}

async function answerTo(token: string): Promise<string> {
  const answer = await postEvent(running.url, { authorization: `Bearer ${token}` });
  if (answer.status === 204) return '204';
  const { code } = (await answer.json()) as { code: string };
  return [answer.status, code, answer.headers.get('retry-after') ?? ''].join(' ').trim();
}

describe('a token of the API server', () => {
  it('lets in whom it is for, and nobody else', async () => {
    expect(await answerTo(await tokenOf(SENDER))).toBe('204');
    expect(await answerTo(await tokenOf('stranger'))).toBe('403 SENDER_SUBJECT_FORBIDDEN');
    expect(await answerTo(await tokenOf(SENDER, 'https://kubernetes.default.svc'))).toBe(
      '401 SENDER_TOKEN_INVALID',
    );
  });

  it('is refused when its time is over', async () => {
    const token = await tokenOf(SENDER);
    expect(await answerTo(token)).toBe('204');
    clock.aheadMs = (LIFE_SECONDS + 60) * 1_000;
    expect(await answerTo(token)).toBe('401 SENDER_TOKEN_INVALID');
  });

  it('cannot be made by another issuer of the same name', async () => {
    const issuer = new TestIssuer(clock);
    const [, sub] = ['', SETTINGS.SENDER_SUBJECTS];
    const iat = Math.floor(clock.nowMs() / 1_000) - 60;
    const forged = await issuer.token(await makeKey('theirs'), { sub, aud: [AUDIENCE], iat });
    expect(await answerTo(forged)).toBe('401 SENDER_TOKEN_INVALID');
  });
});

describe.each([
  // The answer to an admitted caller: the function has no etcd, and a NATS that does not exist.
  ['storage-audit', storageAudit, '/audit', 'ETCD_UNSET', {}],
  ['locate', locate, '/feed', 'connecting', { NATS_URL: 'nats://127.0.0.1:1' }],
] as const)('%s, told to ask who asks', (_name, definition, path, code, more) => {
  let own: RunningFunction;
  beforeEach(async () => {
    const environment = {
      ...SETTINGS,
      ...more,
      SENDERS_ONLY: 'true',
      KUBECONFIG: account.kubeconfigPath,
      PORT: '0',
      LOG_LEVEL: 'silent',
      DRAIN_MINIMUM_SECONDS: '0',
    };
    const build = { version: '0.0.0', commit: '' };
    own = await startFunction<object, unknown>(definition, {
      environment,
      build,
    });
  });
  afterEach(async () => {
    await own.stop();
  });

  const ask = async (token?: string, at: string = path): Promise<string> => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(`http://127.0.0.1:${own.port}${at}`, { headers });
    const body = (await answer.json()) as { readonly code?: string; readonly state?: string };
    return body.code ?? body.state ?? '';
  };

  it('answers whom it knows, and no stranger', async () => {
    expect(await ask()).toBe('SENDER_TOKEN_MISSING');
    expect(await ask(await tokenOf('stranger'))).toBe('SENDER_SUBJECT_FORBIDDEN');
    expect(await ask(await tokenOf(SENDER, 'another'))).toBe('SENDER_TOKEN_INVALID');
    expect(await ask(await tokenOf(SENDER))).toBe(code);
    // The kubelet has no token.
    expect(await ask(undefined, '/health/readiness')).toBe('ready');
  });
});

/** Last, since it makes all tokens so far worthless. */
describe('an API server', () => {
  it('that cannot be reached lets nobody in but those that are known', async () => {
    const token = await tokenOf(SENDER);
    const later = await tokenOf(SENDER);
    await plane.part('kube-apiserver').kill();

    expect(await answerTo(token)).toBe('503 SENDER_KEYS_UNAVAILABLE 5');
    await plane.part('kube-apiserver').start();
    await expect.poll(() => answerTo(token), { timeout: 30_000 }).toBe('204');
    await plane.part('kube-apiserver').kill();
    expect(await answerTo(token)).toBe('204');
    expect(await answerTo(later)).toBe('204');
    await plane.part('kube-apiserver').start();
  });

  it('that signs with a new key is asked for it', async () => {
    const before = await tokenOf(SENDER);
    expect(await answerTo(before)).toBe('204');
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const pem = privateKey.export({ type: 'pkcs1', format: 'pem' });
    await plane.part('kube-apiserver').kill();
    await writeFile(join(dirname(dirname(plane.caPath)), 'service-account.key'), pem);
    await plane.part('kube-apiserver').start();
    // As the kubelet does: the old token of the function itself is worth nothing now.
    await account.rotate();
    clock.aheadMs = 11_000;

    expect(await answerTo(await tokenOf(SENDER))).toBe('204');
    clock.aheadMs += 601_000;
    expect(await answerTo(before)).toBe('401 SENDER_TOKEN_INVALID');
  });
});
