// Credentials that hang, that are gone for a moment, or that must not be told.
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../../shared/clock.ts';
import { accessReader } from '../../../shared/kube/access.ts';
import { type Access, AccessCache } from '../../../shared/kube/access-cache.ts';
import { openKube } from '../../../shared/kube/client.ts';

const patient = new AbortController().signal;
const access: Access = { server: 'https://api', headers: {}, tls: {} };
let nowMs: number;
let dir: string;
const clock: Clock = { nowMs: () => nowMs, sleep: async () => undefined };

beforeEach(async () => {
  nowMs = 1_000_000;
  dir = await mkdtemp(join(tmpdir(), 'ballast-access-trouble-'));
});

afterEach(async () => {
  await rm(dir, { recursive: true });
});

/** The kubeconfig of a user whose credential this script prints. */
const kubeconfigWith = async (script: string): Promise<string> => {
  const command = join(dir, 'plugin');
  await writeFile(command, `#!/bin/sh\n${script}\n`);
  await chmod(command, 0o700);
  const path = join(dir, 'kubeconfig');
  const config = {
    'current-context': 'here',
    clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { exec: { command, env: [{ name: 'A', value: 'b' }] } } }],
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
  };
  await writeFile(path, JSON.stringify(config));
  return path;
};

describe('credentials that take long', () => {
  test('do not hold a call beyond its time, or after its caller went away', async () => {
    // It ends with the test.
    const kubeconfigPath = await kubeconfigWith(`while [ -d '${dir}' ]; do sleep 0.05; done`);
    const kube = openKube({ userAgent: 'test', fieldManager: 'test', kubeconfigPath });
    const version = { method: 'GET', path: '/version', repeat: 'always' } as const;
    const call = kube.raw({ ...version, timeoutMs: 100 });
    await expect(call).rejects.toMatchObject({ code: 'KUBE_TIMEOUT' });
    const reason = new Error('the caller went away');
    const gone = kube.raw({ ...version, signal: AbortSignal.any([AbortSignal.abort(reason)]) });
    await expect(gone).rejects.toBe(reason);
    await kube.close();
  });

  test('one caller that gives up leaves the read to the others', async () => {
    const { promise, resolve } = Promise.withResolvers<Access>();
    const cache = new AccessCache(() => promise, clock);
    const caller = new AbortController();
    const both = [cache.current(caller.signal), cache.current(patient)] as const;
    caller.abort(new Error('the caller went away'));
    await expect(both[0]).rejects.toThrow('the caller went away');
    resolve(access);
    expect(await both[1]).toBe(access);
  });

  test('have a limit of their own, after which the plugin is ended', async () => {
    const pidFile = join(dir, 'pid');
    const path = await kubeconfigWith(`echo $$ > ${pidFile}; exec sleep 30`);
    const read = accessReader({ kubeconfigPaths: [path] }, clock);
    const cache = new AccessCache(read, clock, { readTimeoutMs: 500 });
    await expect(cache.current(patient)).rejects.toMatchObject({
      code: 'KUBE_ACCESS_UNREADABLE',
      message: expect.stringContaining('not read within 500 ms'),
    });
    const isAlive = () =>
      execFileSync('sh', ['-c', `kill -0 $(cat ${pidFile}) 2>/dev/null && echo yes || echo no`], {
        encoding: 'utf8',
      }).trim();
    await expect.poll(isAlive).toBe('no');
  });
});

describe('credentials that cannot be read for a moment', () => {
  const flaky = () => {
    const state = { isBroken: false, reads: 0 };
    const warnings: object[] = [];
    const read = async (): Promise<Access> => {
      state.reads += 1;
      if (state.isBroken) throw new Error('half written');
      return { ...access };
    };
    const log = { warn: (fields: object) => void warnings.push(fields) };
    return { state, warnings, cache: new AccessCache(read, clock, { log }) };
  };

  test('are those that were good, until they can be read again', async () => {
    const { state, warnings, cache } = flaky();
    const good = await cache.current(patient);
    state.isBroken = true;
    nowMs += 60_001;
    expect(await cache.current(patient)).toBe(good);
    expect(await cache.current(patient)).toBe(good);
    expect(state.reads).toBe(2);
    expect(warnings).toEqual([{ detail: 'half written' }]);
    state.isBroken = false;
    nowMs += 5_001;
    expect(await cache.current(patient)).not.toBe(good);
  });

  test('are not those that were refused', async () => {
    const { state, cache } = flaky();
    const refused = await cache.current(patient);
    state.isBroken = true;
    await expect(cache.after(refused, patient)).rejects.toThrow('half written');
    await expect(cache.current(patient)).rejects.toThrow('half written');
  });

  test('are not taken for none: an empty token is no token', async () => {
    await writeFile(join(dir, 'token'), '');
    await writeFile(join(dir, 'ca.crt'), 'PEM');
    const read = accessReader({ serviceAccount: { server: 'https://api', dir } }, clock);
    await expect(read(false, patient)).rejects.toThrow('token is empty');
  });
});

describe('what is said of credentials that cannot be read', () => {
  const told = async (path: string): Promise<string> => {
    const read = accessReader({ kubeconfigPaths: [path] }, clock);
    const error: unknown = await read(false, patient).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'KUBE_ACCESS_UNREADABLE' });
    return inspect(error, { depth: 10, showHidden: true });
  };

  test.each([
    ['a broken line', 'users:\n- name: u\n  user: {token: "s3cret\n', 'line '],
    ['an alias of nothing', 'users:\n- user: {token: *s3cret}\n', 'kubeconfig'],
    ['a key twice', 'token: s3cret\ntoken: s3cret\n', 'line 2'],
  ])('names the place of %s, not its content', async (_, text, place) => {
    const path = join(dir, 'kubeconfig');
    await writeFile(path, text);
    const said = await told(path);
    expect(said).toContain(path);
    expect(said).toContain(place);
    expect(said).not.toContain('s3cret');
  });

  test.each([
    ['what is not JSON', 'echo s3cret', 'printed no ExecCredential'],
    ['its complaint', 'echo s3cret >&2; exit 3', 'exit code 3'],
  ])('leaves out what a plugin printed: %s', async (_, script, why) => {
    const said = await told(await kubeconfigWith(script));
    expect(said).toContain(why);
    expect(said).not.toContain('s3cret');
  });
});
