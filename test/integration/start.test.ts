// `npm start` as a person meets it, without a terminal: it comes up, shows what flows, reports a
// death, and leaves nothing behind. One session is asked for all of it, in this order. It is one of
// `npm run dev`, which is the same but for one function that runs from its sources.
import { spawnSync } from 'node:child_process';
import { utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPartsFile } from '../../knative/try/local/plane/parts-file.ts';
import { openKube } from '../../shared/kube/client.ts';
import { CRDS } from '../../shared/kube/crds.ts';
import { Browser } from '../browser/browser.ts';
import {
  endSession,
  expectNothingLeft,
  READY_TIMEOUT_MS,
  ROOT,
  type Session,
  startSession,
} from '../builders/started-session.ts';

/** Three waits for readiness at their worst. */
const SESSION_TIMEOUT_MS = 3 * READY_TIMEOUT_MS;
const FLOWING = ['--nodes', '3', '--pods', '12', '--churn', '2'];
const REPORT_WITHIN_MS = 2_000;

let session: Session;
let kubeconfig = '';

beforeAll(async () => {
  session = startSession(['knative/try/local/dev.ts', 'metadata', ...FLOWING]);
  await session.until(/get storagemigrations -w/, READY_TIMEOUT_MS);
  [, kubeconfig = ''] = /kubeconfig: (\S+)/.exec(session.text()) ?? [];
}, SESSION_TIMEOUT_MS);

afterAll(async () => {
  await endSession(session);
});

/** The first line of what is advised that holds these words, as a shell takes it. */
function advised(text: string, words: string): string {
  const line = text.split('\n').find((one) => one.includes(words)) ?? '';
  return line.replace(/#.*/, '').trim();
}

/** Answers the exit code. */
const shell = (command: string): number | null =>
  spawnSync('sh', ['-c', command], { cwd: ROOT, stdio: 'ignore' }).status;

/** They come when all else is up; then their definition says that two versions are stored. */
async function whenWidgetsAreThere(): Promise<void> {
  const kube = openKube({ kubeconfigPath: kubeconfig, userAgent: 'test', fieldManager: 'test' });
  const storedVersions = async (): Promise<unknown> =>
    (await kube.get(CRDS, { name: 'widgets.demo.ballast.dev' }))?.['status'];
  const both = { storedVersions: ['v1alpha1', 'v1'] };
  await expect.poll(storedVersions, { timeout: READY_TIMEOUT_MS }).toMatchObject(both);
  await kube.close();
}

test('npm start takes no function, and says so', () => {
  const args = ['knative/try/local/start.ts', 'metadata'];
  // A command that takes the option runs until it is ended, so the test could not go on.
  const options = { cwd: ROOT, encoding: 'utf8', timeout: READY_TIMEOUT_MS } as const;
  const { status, stderr } = spawnSync(process.execPath, args, options);
  expect([status, stderr]).toEqual([
    2,
    'nothing is known of "metadata"\nusage: npm start -- [--help] [OPTION...]\n',
  ]);
});

test('without a step nobody converts, and no step can be taken', () => {
  const args = ['knative/try/local/step.ts', '1', '--plane', dirname(kubeconfig)];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  expect([status, stderr.split(':')[0]]).toEqual([1, 'No conversion runs here as a process']);
  expect(session.text()).not.toContain('function/conversion');
});

test(
  'the migration that it suggests climbs to its proof, and the audit agrees',
  { timeout: SESSION_TIMEOUT_MS },
  async () => {
    const text = session.text();
    const audit = advised(text, 'npm run -s audit');
    await whenWidgetsAreThere();
    expect(shell(audit)).toBe(1);
    expect(shell(advised(text, 'npm run -s migrate'))).toBe(0);
    const watch = advised(text, 'get storagemigrations -w');
    const proved = watch.replace(
      'get storagemigrations -w',
      'wait --for=condition=Proved storagemigrations --all --timeout=40s',
    );
    expect(shell(proved)).toBe(0);
    expect(shell(audit)).toBe(0);
  },
);

test(
  'it shows what flows, reports a killed part, and goes on',
  { timeout: SESSION_TIMEOUT_MS },
  async () => {
    const dir = dirname(kubeconfig);
    await session.until(/events in: dev\.knative\S+ Pod [1-9]/, READY_TIMEOUT_MS);
    await session.until(/metadata answered: done [1-9]/, READY_TIMEOUT_MS);

    const before = session.text().length;
    const parts = await readPartsFile(dir);
    const kwok = parts.find(({ name }) => name === 'kwok');
    process.kill(kwok?.pid ?? 0, 'SIGKILL');
    await session.until(
      /kwok died \(SIGKILL\)\. Its last lines:\n {2}\| ./,
      REPORT_WITHIN_MS,
      before,
    );
    await session.until(/kwok is ready/, READY_TIMEOUT_MS, before);
    const others = (await readPartsFile(dir)).filter(({ name }) => name !== 'kwok');
    expect(others).toEqual(parts.filter(({ name }) => name !== 'kwok'));
  },
);

test(
  'the page that it names shows its pods, and what is wrong',
  { timeout: SESSION_TIMEOUT_MS },
  async () => {
    const [page = ''] = /http:\/\/\S+\/console/.exec(session.text()) ?? [];
    const browser = await Browser.open();
    const wait = { timeout: READY_TIMEOUT_MS };
    try {
      await browser.show(`${page}#where`);
      await expect.poll(() => browser.text('#count'), wait).toMatch(/^(\d+) of \1 pods$/);
      await browser.press('/');
      await browser.type('node:node-001');
      await expect.poll(() => browser.text('#count'), wait).toMatch(/^[1-9] of 1\d pods$/);
      await expect.poll(() => browser.text('#verdict'), wait).toBe('Nothing is wrong');
      expect(browser.complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);

test(
  'in development a changed function starts again, and its log is shown',
  { timeout: SESSION_TIMEOUT_MS },
  async () => {
    await session.until(/"message":"listening"/, READY_TIMEOUT_MS);
    const before = session.text().length;
    const now = new Date();
    await utimes(join(ROOT, 'functions/metadata/index.ts'), now, now);
    const [line] = await session.until(/^.*"message":"listening"/m, READY_TIMEOUT_MS, before);
    expect(line).toContain('"function":"metadata"');
  },
);

test('its end leaves nothing behind', () => expectNothingLeft(session, kubeconfig));
