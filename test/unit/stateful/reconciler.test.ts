// Objects that events and sweeps name: each is reconciled step by step, in turns with all others,
// and a failure of one is no failure of another.
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Context, IncomingEvent } from '../../../shared/function/define.ts';
import { isKubeError, KubeError } from '../../../shared/kube/errors.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { StatefulDeps } from '../../../shared/stateful/deps.ts';
import {
  type Look,
  type Next,
  type Reconciled,
  Reconciler,
} from '../../../shared/stateful/reconciler.ts';
import { KubeModel } from './kube-model.ts';

const DATABASES = { group: 'example.org', version: 'v1', resource: 'databases' };
const WORK_MS = 5_000;

class Deps extends StatefulDeps<{ bytes?: number; looks: number }> {}

class Scene {
  readonly kube = new KubeModel();
  /** Everything that was done, in its order. */
  readonly said: string[] = [];
  nowMs = 0;
  /** Pauses end with it. */
  pause: Promise<void> = Promise.resolve();
  readonly deps: Deps;
  readonly #reconciler: Reconciler<Deps>;
  readonly #context: Context<Deps>;

  constructor(reconcileOnce: (name: string, look: Look) => Promise<Next>) {
    const sleep = async (ms: number) => {
      this.said.push(`sleep ${ms}`);
      this.nowMs += ms;
      await this.pause;
    };
    this.deps = new Deps(
      {
        kube: this.kube.client,
        clock: { nowMs: () => this.nowMs, sleep },
        workMs: WORK_MS,
        lease: { namespace: 'n', name: 'lease', sweepSeconds: 60 },
      },
      { make: () => ({ looks: 0 }), forget: () => undefined },
    );
    const of: Reconciled<Deps> = {
      ref: DATABASES,
      kind: 'Database',
      label: 'example.org/database',
      logField: 'database',
      reconcileOnce: async ({ metadata }, { deps }, look) => {
        if (this.said.length > 100) throw new Error('it never ends');
        this.said.push(`look at ${metadata.namespace ?? ''}/${metadata.name}`);
        deps.memoryOf(metadata.uid).looks += 1;
        return reconcileOnce(metadata.name, look);
      },
      rightsMissing: (_, error) =>
        isKubeError(error, 'KUBE_UNAUTHORIZED')
          ? { reason: 'R', message: 'No rights.' }
          : undefined,
      reportUnobserved: async ({ metadata }, { message }) =>
        void this.said.push(`${metadata.name} is told: ${message}`),
      partChanged: (kind, { metadata }) => void this.said.push(`${kind} of ${metadata.name}`),
    };
    this.#reconciler = new Reconciler(of);
    const log = pino({ level: 'silent' });
    const { signal } = new AbortController();
    this.#context = { deps: this.deps, log, signal } as unknown as Context<Deps>;
  }

  put(name: string, more: object = {}): KubeObject {
    const metadata = { namespace: 'shop', name };
    const [apiVersion, kind] = ['example.org/v1', 'Database'];
    return this.kube.put(DATABASES, { apiVersion, kind, metadata, ...more });
  }

  change(data: unknown): Promise<void> {
    return this.#reconciler.takeChange({ data } as IncomingEvent, this.#context);
  }

  sweep(): Promise<void> {
    return this.#reconciler.sweepAll(this.#context);
  }
}

const ofDatabase = (name: string) => ({ kind: 'Database', metadata: { namespace: 'shop', name } });
const ofPart = (kind: string, name: string) => ({
  kind,
  metadata: { namespace: 'shop', name: 'any', labels: { 'example.org/database': name } },
});

test('an object is looked at when it changes, and when a part with its label does', async () => {
  const scene = new Scene(async () => undefined);
  scene.put('one');
  scene.put('two');
  await scene.change(ofDatabase('one'));
  await scene.change(ofPart('Pod', 'two'));
  expect(scene.said).toEqual(['look at shop/one', 'Pod of two', 'look at shop/two']);
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['an object that is gone', ofDatabase('gone')],
  ['a part of nobody', { kind: 'Pod', metadata: { namespace: 'shop', name: 'one' } }],
  ['an object of no namespace', { kind: 'Database', metadata: { name: 'one' } }],
  [
    'a label that is no text',
    { metadata: { namespace: 'shop', labels: { 'example.org/database': {} } } },
  ],
])('an event that names %s is answered without a look', async (_, data) => {
  const scene = new Scene(async () => undefined);
  scene.put('one');
  await scene.change(data);
  expect(scene.said).toEqual([]);
});

test('steps follow each other at once or after a pause, until there is none', async () => {
  const pauses = [0, 250, undefined];
  const scene = new Scene(async () => pauses.shift());
  scene.put('one');
  await scene.change(ofDatabase('one'));
  const look = 'look at shop/one';
  expect(scene.said).toEqual([look, look, 'sleep 250', look]);
});

test('when the time of a request is over, the one who looks is told', async () => {
  const told: boolean[] = [];
  const scene = new Scene(async (_, { isTimeOver }) => {
    told.push(isTimeOver);
    return isTimeOver ? undefined : WORK_MS / 2;
  });
  scene.put('one');
  await scene.change(ofDatabase('one'));
  expect(told).toEqual([false, false, false, true]);
});

test('each look is at the object as it is then, and one that is gone ends the work', async () => {
  const scene = new Scene(async () => {
    scene.kube.remove(DATABASES, { namespace: 'shop', name: 'one' });
    return 0;
  });
  scene.put('one');
  await scene.change(ofDatabase('one'));
  expect(scene.said).toEqual(['look at shop/one']);
});

const failing = (
  code: 'KUBE_CONFLICT' | 'KUBE_NOT_FOUND' | 'KUBE_FORBIDDEN' | 'KUBE_UNAUTHORIZED',
) =>
  new Scene(async (name) => {
    if (name === 'one') throw new KubeError(code, 'No.', { verb: 'patch', ref: DATABASES });
    return undefined;
  });

test.each(['KUBE_CONFLICT', 'KUBE_NOT_FOUND'] as const)(
  'somebody else who was first (%s) is no failure',
  async (code) => {
    const scene = failing(code);
    scene.put('one');
    await scene.change(ofDatabase('one'));
    expect(scene.said).toEqual(['look at shop/one']);
  },
);

test('rights that lack are told on their object, and are no failure of a sweep', async () => {
  const scene = failing('KUBE_UNAUTHORIZED');
  for (const name of ['one', 'two']) scene.put(name);
  await scene.sweep();
  expect(scene.said.toSorted()).toEqual([
    'look at shop/one',
    'look at shop/two',
    'one is told: No rights.',
  ]);
});

test('a sweep looks at every object, tells of one that fails, and forgets those gone', async () => {
  const scene = failing('KUBE_FORBIDDEN');
  const uids = ['one', 'two', 'three'].map((name) => scene.put(name).metadata.uid);
  await expect(scene.sweep()).rejects.toMatchObject({ code: 'KUBE_FORBIDDEN' });
  const looks = () => uids.map((uid) => scene.deps.memoryOf(uid).looks);
  expect(looks()).toEqual([1, 1, 1]);
  scene.kube.remove(DATABASES, { namespace: 'shop', name: 'two' });
  await expect(scene.sweep()).rejects.toMatchObject({ code: 'KUBE_FORBIDDEN' });
  expect(looks()).toEqual([2, 0, 2]);
});

test('eight objects are looked at at once, and each by one alone', async () => {
  let [now, most] = [0, 0];
  const underWay = new Set<string>();
  const scene = new Scene(async (name) => {
    expect(underWay).not.toContain(name);
    underWay.add(name);
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => void setImmediate(resolve));
    now -= 1;
    underWay.delete(name);
    return undefined;
  });
  const names = Array.from({ length: 30 }, (_, index) => `db-${index}`);
  for (const name of names) scene.put(name);
  const events = names.flatMap((name) => [ofDatabase(name), ofPart('Pod', name)]);
  const changes = events.map((event) => scene.change(event));
  await Promise.all([scene.sweep(), ...changes]);
  expect(most).toBe(8);
});

test.each([
  ['go on at once', 0],
  ['wait between their steps', 250],
])('nine objects that never rest and %s hold up no tenth', async (_how, pauseMs) => {
  let rest = (): void => undefined;
  let isTenthDone = false;
  const scene = new Scene(async (name) => {
    if (name === 'db-9') {
      isTenthDone = true;
      rest();
    }
    return isTenthDone ? undefined : pauseMs;
  });
  scene.pause = new Promise((resolve) => (rest = resolve));
  for (let index = 0; index < 10; index += 1) scene.put(`db-${index}`);
  await scene.sweep();
  // A failure after a hundred looks would have freed the others too.
  expect(scene.said.filter((line) => line === 'look at shop/db-9')).toHaveLength(1);
  expect(isTenthDone).toBe(true);
});

const ready = (observedGeneration = 1) => ({
  observedGeneration,
  conditions: [{ type: 'Ready', status: 'True' }],
});
/** More than is held of one. */
const LARGE = 'x'.repeat(40_000);

test.each<[string, object, number]>([
  ['Ready', { status: ready() }, 1],
  ['not Ready', { status: { observedGeneration: 1, conditions: [] } }, 2],
  ['Ready for another spec', { status: ready(0) }, 2],
  ['Ready and large', { status: ready(), note: LARGE }, 2],
])('an object that is %s costs a sweep its reads', async (_, more, reads) => {
  const looks: boolean[] = [];
  const scene = new Scene(async (_name, { isListed }) => {
    looks.push(isListed);
    return undefined;
  });
  scene.put('one', more);
  await scene.sweep();
  expect([scene.kube.reads, looks]).toEqual([reads, [reads === 1]]);
});

test('where reads alone take longer than that, a request takes one step all the same', async () => {
  const told: boolean[] = [];
  const scene = new Scene(async (_, { isTimeOver, isListed }) => {
    told.push(isTimeOver);
    scene.nowMs += WORK_MS * 2;
    if (isListed) return 'ReadAnew';
    return isTimeOver ? undefined : 0;
  });
  scene.put('one', { status: ready() });
  await scene.sweep();
  expect(told).toEqual([false, false, true]);
});

test('only the first look is at an object as it was listed', async () => {
  const looks: boolean[] = [];
  const scene = new Scene(async (_, { isListed }) => {
    looks.push(isListed);
    return isListed ? 0 : undefined;
  });
  scene.put('one', { status: ready() });
  await scene.sweep();
  expect([scene.kube.reads, looks]).toEqual([2, [true, false]]);
});

test('of many objects no more is held than there is room for', async () => {
  let listed = 0;
  const scene = new Scene(async (_, { isListed }) => {
    listed += isListed ? 1 : 0;
    if (scene.said.length > 99) scene.said.length = 0;
    return undefined;
  });
  for (let index = 0; index < 300; index += 1) {
    scene.put(`db-${index}`, { status: ready(), note: 'x'.repeat(20_000) });
  }
  await scene.sweep();
  expect(listed).toBeGreaterThan(90);
  expect(listed).toBeLessThanOrEqual(104);
  expect(scene.kube.reads).toBe(1 + 300 - listed);
});
