// Two megabytes of a sender's words come back neither in an answer nor in a line of the log.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Started, eventHeaders, started } from './started.ts';

let server: Started;
beforeAll(async () => {
  server = await started({
    handle: async ({ data }) => {
      throw new TypeError(`nobody foresaw ${String(data)}`);
    },
  });
});
afterAll(() => server.stop());

const HUGE = 'x'.repeat(1_900_000);
const ENVELOPE = { specversion: '1.0', id: '1', source: '/t', type: 'dev.ballast.test' };
const LONG = 'y'.repeat(4_000);

/** Longer than any answer or line has reason to be. */
const ANSWER_BYTES_MAX = 6_000;
const LINE_BYTES_MAX = 30_000;

it.each([
  ['type', { type: HUGE }],
  ['type that is just taken', { type: LONG }],
  ['id', { id: HUGE }],
  ['charset', { datacontenttype: `text/plain;charset=${HUGE}`, data_base64: 'AA==' }],
  [
    'charset that is just taken',
    { datacontenttype: `text/x;charset=${LONG}`, data_base64: 'AA==' },
  ],
  ['attribute name', { [`A${HUGE}`]: '1' }],
  ['name of a good attribute', { [HUGE]: '1' }],
  ['text that a bug quotes', { data: HUGE }],
])('A %s comes back cut, in the answer and in the log', async (_what, wrong) => {
  const since = server.lines.length;
  const headers = { 'content-type': 'application/cloudevents+json' };
  const body = JSON.stringify({ ...ENVELOPE, ...wrong });
  const answer = await fetch(server.url, { method: 'POST', headers, body });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(Buffer.byteLength(await answer.text())).toBeLessThan(ANSWER_BYTES_MAX);
  const lines = server.lines.slice(since).map((line) => JSON.stringify(line).length);
  expect(lines.length).toBeGreaterThan(0);
  expect(Math.max(...lines)).toBeLessThan(LINE_BYTES_MAX);
});

it.each([
  ['path', `/${'x'.repeat(9_000)}`, {}],
  ['encoding', '/', { ...eventHeaders, 'content-encoding': 'z'.repeat(9_000) }],
])('A %s comes back cut', async (_what, path, headers) => {
  const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: '{}' });
  expect((await answer.text()).length).toBeLessThan(1_000);
});
