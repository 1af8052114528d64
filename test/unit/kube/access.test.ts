// Credentials are read again when they may have changed, once for all who ask, and at once when
// they were refused.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../../shared/clock.ts';
import { accessReader } from '../../../shared/kube/access.ts';
import { type Access, AccessCache } from '../../../shared/kube/access-cache.ts';

let dir: string;
let nowMs: number;
let reads: boolean[];
const patient = new AbortController().signal;
const clock: Clock = { nowMs: () => nowMs, sleep: async () => undefined };

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-access-'));
  nowMs = 1_000_000;
  reads = [];
});

afterEach(async () => {
  await rm(dir, { recursive: true });
});

const read = async (isRefused: boolean): Promise<Access> => {
  reads.push(isRefused);
  return { server: 'https://api', headers: {}, tls: {} };
};

describe('AccessCache', () => {
  test('many callers at once read once', async () => {
    const cache = new AccessCache(read, clock);
    await Promise.all(Array.from({ length: 50 }, () => cache.current(patient)));
    expect(reads).toEqual([false]);
  });

  test('after a minute it is read again', async () => {
    const cache = new AccessCache(read, clock);
    await cache.current(patient);
    nowMs += 60_000;
    await cache.current(patient);
    expect(reads).toHaveLength(1);
    nowMs += 1;
    await cache.current(patient);
    expect(reads).toHaveLength(2);
  });

  test('callers that were refused together read once more, and say why', async () => {
    const cache = new AccessCache(read, clock);
    const refused = await cache.current(patient);
    const renewed = await Promise.all([
      cache.after(refused, patient),
      cache.after(refused, patient),
    ]);
    expect(reads).toEqual([false, true]);
    expect(renewed[0]).toBe(renewed[1]);
  });

  test('a read that failed is tried again by the next call', async () => {
    let isBroken = true;
    const cache = new AccessCache(async (isRefused) => {
      if (isBroken) throw new Error('not mounted yet');
      return read(isRefused);
    }, clock);
    await expect(cache.current(patient)).rejects.toThrow('not mounted yet');
    isBroken = false;
    expect((await cache.current(patient)).server).toBe('https://api');
  });
});

describe('the mounted service account', () => {
  test('gives the token and the CA as they are now', async () => {
    await writeFile(join(dir, 'token'), 'first\n');
    await writeFile(join(dir, 'ca.crt'), 'PEM');
    const readAccess = accessReader(
      { serviceAccount: { server: 'https://10.96.0.1:443', dir } },
      clock,
    );
    expect(await readAccess(false, patient)).toEqual({
      server: 'https://10.96.0.1:443',
      headers: { authorization: 'Bearer first' },
      tls: { ca: 'PEM' },
    });
    await writeFile(join(dir, 'token'), 'second');
    expect((await readAccess(false, patient)).headers['authorization']).toBe('Bearer second');
  });

  test('that is not there is said, and what to do', async () => {
    const readAccess = accessReader(
      { serviceAccount: { server: 'https://10.96.0.1:443', dir } },
      clock,
    );
    await expect(readAccess(false, patient)).rejects.toMatchObject({
      code: 'KUBE_ACCESS_UNREADABLE',
      message: expect.stringContaining('correct the kubeconfig or the mounted service account'),
    });
  });
});

describe('a kubeconfig', () => {
  const kubeconfig = async (user: object, cluster: object = {}): Promise<string> => {
    const path = join(dir, 'kubeconfig');
    const config = {
      'current-context': 'here',
      clusters: [{ name: 'c', cluster: { server: 'https://api:6443/', ...cluster } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    };
    await writeFile(path, JSON.stringify(config));
    return path;
  };
  const accessOf = async (path: string, isRefused = false): Promise<Access> =>
    accessReader({ kubeconfigPaths: [path] }, clock)(isRefused, patient);

  test('may name files beside itself, which are read again', async () => {
    await writeFile(join(dir, 'token-file'), 'one');
    await writeFile(join(dir, 'ca.pem'), 'CA');
    const path = await kubeconfig(
      { tokenFile: 'token-file', token: 'old copy' },
      { 'certificate-authority': 'ca.pem', 'tls-server-name': 'kubernetes' },
    );
    const readAccess = accessReader({ kubeconfigPaths: [path] }, clock);
    expect(await readAccess(false, patient)).toEqual({
      server: 'https://api:6443',
      headers: { authorization: 'Bearer one' },
      tls: { ca: 'CA', servername: 'kubernetes' },
    });
    await writeFile(join(dir, 'token-file'), 'two');
    expect((await readAccess(false, patient)).headers['authorization']).toBe('Bearer two');
  });

  test('may hold certificates as data', async () => {
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const path = await kubeconfig(
      { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') },
      { 'certificate-authority-data': base64('CA') },
    );
    expect((await accessOf(path)).tls).toEqual({ ca: 'CA', cert: 'CERT', key: 'KEY' });
  });

  test('may ask a command, which is run again only when its credential was refused', async () => {
    const command = join(dir, 'plugin');
    const script = [
      '#!/bin/sh',
      `echo x >> ${join(dir, 'runs')}`,
      `echo "{\\"status\\":{\\"token\\":\\"run-$(wc -l < ${join(dir, 'runs')})\\"}}"`,
    ];
    await writeFile(command, script.join('\n'));
    await chmod(command, 0o700);
    const path = await kubeconfig({
      exec: { command, apiVersion: 'client.authentication.k8s.io/v1' },
    });
    const readAccess = accessReader({ kubeconfigPaths: [path] }, clock);
    const tokenOf = async (isRefused: boolean) =>
      (await readAccess(isRefused, patient)).headers['authorization']?.replaceAll(' ', '');
    expect(await tokenOf(false)).toBe('Bearerrun-1');
    expect(await tokenOf(false)).toBe('Bearerrun-1');
    expect(await tokenOf(true)).toBe('Bearerrun-2');
  });

  test('whose context names nothing is refused by name', async () => {
    const path = await kubeconfig({});
    await writeFile(path, JSON.stringify({ 'current-context': 'gone' }));
    await expect(accessOf(path)).rejects.toMatchObject({
      code: 'KUBE_ACCESS_UNREADABLE',
      message: expect.stringContaining("'gone'"),
    });
  });

  test('with an auth provider of old is refused by name', async () => {
    const path = await kubeconfig({ 'auth-provider': { name: 'azure', config: {} } });
    await expect(accessOf(path)).rejects.toThrow("'azure'");
  });

  test('of two the first that has an entry counts', async () => {
    const first = await kubeconfig({ token: 'first' });
    const second = join(dir, 'second');
    await writeFile(second, JSON.stringify({ users: [{ name: 'u', user: { token: 'second' } }] }));
    const access = await accessReader({ kubeconfigPaths: [second, first] }, clock)(false, patient);
    expect(access.headers['authorization']).toBe('Bearer second');
  });
});
