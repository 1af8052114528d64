// Knative's ApiServerSource adapter and each answer of its sink: the real binary against a scripted
// sink. The adapter sends the events of one namespace one after the other, so an event is given up
// when the next one comes; each row has a namespace of its own, and all rows run at once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { sourceOf, startAdapter } from './support/adapter.ts';
import { type Api, configMaps, named, openApi } from './support/api.ts';
import { type ScriptedAnswer, ScriptedSink } from './support/scripted-sink.ts';

interface Row {
  readonly name: string;
  /** One answer per try; the last one goes on. */
  readonly answers: readonly (number | ScriptedAnswer)[];
  readonly tries: number;
}

const RETRIED = [503, 429, 502, 504, 404, 425, 413];
const DROPPED = [500, 409, 408, 400, 401, 403, 422, 501, 505];

const ROWS: readonly Row[] = [
  ...RETRIED.map((status) => ({
    name: `${status} is retried`,
    answers: [status, 204],
    tries: 2,
  })),
  ...DROPPED.map((status) => ({
    name: `${status} drops the event at the first try`,
    answers: [status],
    tries: 1,
  })),
  { name: '503 for ever is given up after six tries', answers: [503], tries: 6 },
  { name: '413 for ever is given up after six tries', answers: [413], tries: 6 },
  {
    name: '503 until the last of the six tries loses nothing',
    answers: [503, 503, 503, 503, 503, 204],
    tries: 6,
  },
  { name: 'a reset connection is retried', answers: [0, 204], tries: 2 },
  {
    name: 'Retry-After is not looked at',
    answers: [{ status: 503, headers: { 'retry-after': '3600' } }, 204],
    tries: 2,
  },
  {
    name: 'a body beside 200 changes nothing',
    answers: [{ status: 200, headers: { 'content-type': 'application/json' }, body: '{"a":1}' }],
    tries: 1,
  },
  {
    name: 'a redirect is followed to where it leads',
    answers: [{ status: 307, headers: { location: '/elsewhere' } }, 204],
    tries: 2,
  },
];

const namespaceOf = (row: Row): string => `row-${ROWS.indexOf(row)}`;
const subject = (namespace: string, name: string): string =>
  `/apis/v1/namespaces/${namespace}/configmaps/${name}`;

let plane: PlaneAddress;
let api: Api;
let sink: ScriptedSink;

beforeAll(async () => {
  plane = sharedPlane();
  api = await openApi(plane);
  const namespaces = [...ROWS.map(namespaceOf), 'refused'];
  await Promise.all(namespaces.map((name) => api.create('/api/v1/namespaces', named(name))));
  sink = await new ScriptedSink(({ headers }, earlier) => {
    const row = ROWS.find((candidate) => namespaceOf(candidate) === headers['ce-namespace']);
    if (row === undefined || headers['ce-name'] !== 'first') return { status: 204 };
    const answer = row.answers[earlier] ?? row.answers.at(-1) ?? 204;
    return typeof answer === 'number' ? { status: answer } : answer;
  }).listen();
  const source = sourceOf('rules', { namespaces: ROWS.map(namespaceOf) });
  await startAdapter(plane, source, sink.url);
  for (const name of ['first', 'second']) {
    await Promise.all(ROWS.map((row) => api.create(configMaps(namespaceOf(row)), named(name))));
  }
});

afterAll(async () => {
  await sink?.close();
  await api?.close();
});

describe('what the adapter does with an answer', () => {
  test.each(ROWS)('$name', async (row) => {
    const namespace = namespaceOf(row);
    await expect
      .poll(() => sink.of(subject(namespace, 'second')).length, { timeout: 10_000 })
      .toBe(1);
    expect(sink.of(subject(namespace, 'first'))).toHaveLength(row.tries);
  });

  test('the six tries are 100, 200, 400, 800 and 1600 ms apart', async () => {
    const row = ROWS.find(({ answers, tries }) => answers[0] === 503 && tries === 6);
    if (row === undefined) throw new Error('the table has lost its row');
    const tries = () => sink.of(subject(namespaceOf(row), 'first'));
    await expect.poll(() => tries().length, { timeout: 10_000 }).toBe(6);
    const at = tries().map(({ atMs }) => atMs);
    const pauses = at.slice(1).map((ms, index) => ms - (at[index] ?? 0));
    for (const [index, pauseMs] of pauses.entries()) {
      // Never early; how late is the machine's doing, within the ten seconds from above.
      expect(pauseMs).toBeGreaterThan(100 * 2 ** index - 20);
    }
  });

  test('every try of an event has the same id, and every event another one', async () => {
    const ids = new Map<string, Set<unknown>>();
    for (const { headers } of sink.received) {
      const key = String(headers['ce-subject']);
      ids.set(key, (ids.get(key) ?? new Set()).add(headers['ce-id']));
    }
    const sets = [...ids.values()];
    expect(sets.every((set) => set.size === 1)).toBe(true);
    expect(new Set(sets.flatMap((set) => [...set])).size).toBe(sets.length);
  });
});

test('a refused connection is retried until the sink is there', async () => {
  const port = await freePort();
  // The adapter says that it sends only at the level debug.
  const loud = { K_LOGGING_CONFIG: JSON.stringify({ 'zap-logger-config': DEBUG_LOGGER }) };
  const source = sourceOf('refused', { namespaces: ['refused'] });
  const part = await startAdapter(plane, source, `http://127.0.0.1:${port}`, (spec) => ({
    ...spec,
    env: { ...spec.env, ...loud },
  }));
  await api.create(configMaps('refused'), named('early'));
  const said = (): string => part.lastLines(50).join('\n');
  await expect.poll(said, { timeout: 10_000 }).toContain('sending cloudevent id');
  const late = await new ScriptedSink().listen(port);
  try {
    await expect
      .poll(() => late.of(subject('refused', 'early')).length, { timeout: 10_000 })
      .toBe(1);
  } finally {
    await late.close();
    await part.stop();
  }
});

const DEBUG_LOGGER = JSON.stringify({
  level: 'debug',
  encoding: 'json',
  outputPaths: ['stdout'],
  errorOutputPaths: ['stderr'],
  encoderConfig: { levelKey: 'level', messageKey: 'message' },
});
