// `npm start -- --step` and `npm run step`, as a person walks the timeline of our own kinds with
// them: conversion is one process more, and kubectl reads and writes both versions.
import { connect } from 'node:net';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolvePart } from '../../knative/try/local/parts/resolve.ts';
import { findPart, type PlaneAddress } from '../../knative/try/local/plane/address.ts';
import { readPartsFile } from '../../knative/try/local/plane/parts-file.ts';
import { countStored } from '../builders/etcd-values.ts';
import { runProgram, type Told } from '../builders/run-program.ts';
import {
  endSession,
  expectNothingLeft,
  READY_TIMEOUT_MS,
  ROOT,
  type Session,
  startSession,
} from '../builders/started-session.ts';

/** A migration of nine kinds, and a look of conversion, once a minute each. */
const STEP_MS = 240_000;
const SMALL = ['--nodes', '1', '--pods', '0', '--churn', '0'];
const START = 'knative/try/local/start.ts';
let session: Session;
let kubeconfig = '';
let kubectlPath = '';

beforeAll(async () => {
  session = startSession([START, '--step', '1', ...SMALL]);
  kubectlPath = await resolvePart('kubectl');
  [, kubeconfig = ''] = await session.until(/kubeconfig: (\S+)/, READY_TIMEOUT_MS);
}, READY_TIMEOUT_MS);

afterAll(() => endSession(session));

const node = (program: string, ...args: readonly string[]): Promise<Told> =>
  runProgram(process.execPath, [program, ...args], { cwd: ROOT });

const step = (...args: readonly string[]): Promise<Told> =>
  node('knative/try/local/step.ts', ...args, '--plane', dirname(kubeconfig));

const kubectl = (args: readonly string[], input = '', as = kubeconfig): Promise<Told> =>
  runProgram(kubectlPath, args, { input, env: { KUBECONFIG: as, HOME: dirname(kubeconfig) } });

const etcdCluster = (version: string, name: string, compaction: object): string =>
  JSON.stringify({
    apiVersion: `ballast.dev/${version}`,
    kind: 'EtcdCluster',
    metadata: { name, namespace: 'default' },
    spec: { compaction: { mode: 'Periodic', ...compaction } },
  });
const OLD = etcdCluster('v1alpha1', 'old', { retention: '1h' });
const NEW = etcdCluster('v1beta1', 'new', { retentionSeconds: 7_200 });

/** The words of each in this version. */
async function compactions(version: string): Promise<string> {
  const path = 'jsonpath={.items[*].spec.compaction}';
  const told = await kubectl(['get', `etcdclusters.${version}.ballast.dev`, '-o', path]);
  return told.out + told.err;
}

const IN_ALPHA = [
  { mode: 'Periodic', retention: '2h' },
  { mode: 'Periodic', retention: '1h' },
];
const IN_BETA = [
  { mode: 'Periodic', retentionSeconds: 7_200 },
  { mode: 'Periodic', retentionSeconds: 3_600 },
];
const said = (all: readonly object[]): string => all.map((one) => JSON.stringify(one)).join(' ');

async function expectBothRead(): Promise<void> {
  expect(await compactions('v1alpha1')).toBe(said(IN_ALPHA));
  expect(await compactions('v1beta1')).toBe(said(IN_BETA));
}

/** Each of the nine kinds, by storage-migration, whom nobody asked but the definitions. */
async function expectMovedTo(version: string): Promise<void> {
  const path = '{range .items[?(@.spec.group=="ballast.dev")]}{.status.storedVersions}{end}';
  const moved = async (): Promise<string> =>
    (await kubectl(['get', 'crd', '-o', `jsonpath=${path}`])).out;
  const wait = { timeout: STEP_MS, interval: 1_000 };
  await expect.poll(moved, wait).toBe(`["${version}"]`.repeat(9));
  expect(await countStored(await plane(), 'ballast.dev', 'etcdclusters')).toEqual({ [version]: 2 });
}

async function plane(): Promise<PlaneAddress> {
  const dir = dirname(kubeconfig);
  const parts = await readPartsFile(dir);
  return { dir, kubeconfigPath: kubeconfig, caPath: '', part: (name) => findPart(parts, name) };
}

test('what is no step is refused, with how it is said', async () => {
  const started = await node(START, '--step', '6');
  expect([started.status, started.err]).toEqual([
    2,
    '--step wants a whole number from 0 to 5, not "6"\n' +
      'usage: npm start -- [--help] [OPTION...]\n',
  ]);
  for (const [args, words] of [
    [[], 'say which step'],
    [['stored'], 'npm run step wants a whole number from 0 to 5, not "stored"'],
    [['1', '2'], 'too many words: 2'],
  ] as const) {
    const { status, err } = await step(...args);
    expect(status).toBe(2);
    expect(err.startsWith(`${words}\n\nusage: npm run step -- N`)).toBe(true);
  }
});

test(
  'both versions are written and read, and what is installed is in the feed',
  async () => {
    for (const manifest of [OLD, NEW]) {
      expect(await kubectl(['apply', '-f', '-'], manifest)).toMatchObject({ status: 0 });
    }
    await expectBothRead();
    const wait = ['wait', '--for=condition=Ready', 'metadatafeeds/cluster', '--timeout=60s'];
    expect(await kubectl([...wait, '-n', 'ballast-system'])).toMatchObject({ status: 0, err: '' });
  },
  STEP_MS,
);

test('conversion is no more than its account, and listens on this machine alone', async () => {
  const own = join(dirname(kubeconfig), 'clients/function-conversion/kubeconfig');
  const may = async (...words: readonly string[]): Promise<string> =>
    (await kubectl(['auth', 'can-i', '-n', 'ballast-system', ...words], '', own)).out.trim();
  expect(await may('patch', 'secrets/conversion-certificate')).toBe('yes');
  expect(await may('create', 'secrets')).toBe('no');
  expect(await may('get', 'etcdclusters.ballast.dev')).toBe('no');
  const path = 'jsonpath={.spec.ports[0].port}';
  const { out } = await kubectl([
    'get',
    'service',
    '-n',
    'ballast-system',
    'conversion',
    '-o',
    path,
  ]);
  const [there, elsewhere] = ['127.0.0.1', '127.0.0.2'].map((host) => connect(Number(out), host));
  await once(there ?? fail(), 'connect');
  there?.destroy();
  await expect(once(elsewhere ?? fail(), 'connect')).rejects.toThrow('ECONNREFUSED');
});

const fail = (): never => {
  throw new Error('no connection was begun');
};

test(
  'a step is taken while it runs, and back: storage moves, on proof',
  async () => {
    expect(await step('2')).toEqual({ status: 0, out: 'Our own kinds are at step 2.\n', err: '' });
    const early = await step('0');
    expect(early.status).toBe(1);
    expect(early.err).toBe(
      'Our own kinds are at step 2, and steps are taken one after the other: take step 1 before ' +
        '(docs/upgrading.md).\n',
    );
    await expectBothRead();
    await expectMovedTo('v1beta1');
    await expectBothRead();
    expect((await step('1')).status).toBe(0);
    const unproved = await step('0');
    expect(unproved.status).toBe(1);
    expect(unproved.err).toMatch(
      /^Step 0 has ballast.dev\/v1alpha1 alone, and .* wait until kubectl get storagemigrations/,
    );
    await expectMovedTo('v1alpha1');
    await expectBothRead();
  },
  3 * STEP_MS,
);

test(
  'from the first step one goes back to one version, and forward again',
  async () => {
    expect(await step('0')).toMatchObject({ status: 0, err: '' });
    const away = /doesn't have a resource type|could not find the requested resource/;
    await expect.poll(() => compactions('v1beta1'), { timeout: STEP_MS }).toMatch(away);
    expect(await compactions('v1alpha1')).toBe(said(IN_ALPHA));
    expect(await step('1')).toMatchObject({ status: 0, err: '' });
    await expectBothRead();
  },
  2 * STEP_MS,
);

test('its end leaves nothing behind', () => expectNothingLeft(session, kubeconfig));
