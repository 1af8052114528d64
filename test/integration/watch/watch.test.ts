// `npm run watch` as a process, on a feed of a running plane.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import { FeedWriter } from '../../builders/feed-writer.ts';

const ENTRY = join(import.meta.dirname, '../../../knative/try/local/watch.ts');
const node = { node: 'n1' };
const pod = (name: string) => ({ resource: 'pods', namespace: 'web', name });

let plane: Plane;
let feed: FeedWriter;

beforeAll(async () => {
  plane = await startPlane({ parts: ['nats-server'] });
  feed = await FeedWriter.open(plane.part('nats-server').url, 'cluster');
  await feed.begin();
  await feed.put(node, pod('a'), { phase: 'Pending' });
});

afterAll(async () => {
  await feed.close();
  await plane.stop();
});

interface Run {
  readonly out: () => string;
  readonly err: () => string;
  readonly ended: Promise<number | null>;
  end(): void;
}

function watch(...args: readonly string[]): Run {
  const child = spawn(process.execPath, [ENTRY, ...args]);
  const texts = { out: '', err: '' };
  child.stdout.on('data', (data: Buffer) => void (texts.out += data.toString()));
  child.stderr.on('data', (data: Buffer) => void (texts.err += data.toString()));
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  return {
    out: () => texts.out,
    err: () => texts.err,
    ended,
    end: () => void child.kill('SIGINT'),
  };
}

test('it shows what is held, then each change, until it is ended', async () => {
  const run = watch('--node', 'n1', '--plane', plane.dir);
  await expect
    .poll(run.out, { timeout: 20_000 })
    .toMatch(/added {4}Pod {2}web\/a {2}Pending on n1/);
  await expect.poll(run.out).toContain('--- current at');
  await feed.put(node, pod('a'), { phase: 'Running' });
  await expect
    .poll(run.out)
    .toMatch(/changed {2}Pod {2}web\/a {2}phase Pending -> Running {2}@\d+/);
  run.end();
  expect(await run.ended).toBe(0);
});

test('once and as JSON, for scripts', async () => {
  const run = watch(
    '--cluster',
    '--json',
    '--once',
    '--nats',
    plane.part('nats-server').urls?.['reader'] ?? '',
  );
  expect(await run.ended).toBe(0);
  const lines = run.out().trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ type: 'added', name: 'a' }]);
});

test.each([
  [['--node', 'nope'], 'the feed shows nothing of the node nope'],
  [['--namespace', 'web', '--namespace', 'nope'], 'of the namespace nope, but of web'],
])('a place that the feed does not know is no answer: %j --once', async (scope, why) => {
  const run = watch(...scope, '--once', '--plane', plane.dir);
  expect([await run.ended, run.out()]).toEqual([1, '']);
  expect(run.err()).toContain(why);
});

test('what is asked wrongly is explained, with exit code 2', async () => {
  const run = watch('--node');
  expect(await run.ended).toBe(2);
  expect(run.err()).toContain('usage: npm run watch');
  const help = watch('--help');
  expect(await help.ended).toBe(0);
  expect(help.out()).toContain('--namespace NAME');
});
