// The status as people read it: written when it changed and by nobody else meanwhile, with
// messages of a length that can be read, and an Event for each new trouble.
import { expect, test } from 'vitest';
import type { ConditionInput } from '../../../shared/kube/conditions.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import {
  recordEventOn,
  reportStatus,
  reportUnobserved,
} from '../../../shared/stateful/write-status.ts';
import { KubeModel } from './kube-model.ts';
import { NOW_MS } from './samples.ts';

const REF = { group: 'example.org', version: 'v1', resource: 'databases' };
const AT = { namespace: 'shop', name: 'db' };
const { signal } = new AbortController();
const clock = { nowMs: () => NOW_MS, sleep: async () => undefined };

const degraded = (reason: string, message = 'Why.'): readonly ConditionInput[] => [
  { type: 'Ready', status: 'False', reason, message },
  { type: 'Degraded', status: 'True', reason, message },
];

class Scene {
  readonly kube = new KubeModel();
  readonly writer = { kube: this.kube.client, clock, fieldManager: 'keeper', ref: REF };

  constructor() {
    const spec = { replicas: 3 };
    this.kube.put(REF, { apiVersion: 'example.org/v1', kind: 'Database', metadata: AT, spec });
  }

  object(): KubeObject {
    const found = this.kube.objects.get('databases/shop/db');
    if (found === undefined) throw new Error('it is gone');
    return found;
  }

  get status() {
    return this.object()['status'] as {
      readonly plan?: unknown;
      readonly ready?: string;
      readonly conditions: readonly ConditionInput[];
    };
  }

  /** The Events about it, each as its type, its reason and its component. */
  events() {
    const all = [...this.kube.of('events').values()];
    return all.map(({ type, reason, source, involvedObject }) => ({
      told: `${String(type)} ${String(reason)}`,
      source,
      involvedObject,
    }));
  }

  async report(conditions: readonly ConditionInput[], object = this.object()): Promise<void> {
    const { generation } = object.metadata;
    const status = { observedGeneration: generation, ready: '3/3' };
    await reportStatus(this.writer, object, { status, conditions }, { nowMs: NOW_MS, signal });
  }
}

const writesOf = ({ kube }: Scene): readonly string[] => kube.writes;

test('the same status is written once', async () => {
  const scene = new Scene();
  const whole = [
    { type: 'Ready', status: 'True', reason: 'Whole', message: 'All is well.' },
  ] as const;
  await scene.report(whole);
  await scene.report(whole);
  expect(writesOf(scene)).toEqual(['apply databases/status db']);
  expect(scene.status).toMatchObject({ ready: '3/3', conditions: whole });
  expect(scene.events()).toEqual([]);
});

test('a status that rests on an older object is refused', async () => {
  const scene = new Scene();
  const before = scene.object();
  scene.kube.change(REF, AT, { spec: { replicas: 5 } });
  await expect(scene.report(degraded('Away'), before)).rejects.toMatchObject({
    code: 'KUBE_CONFLICT',
  });
  expect(scene.events()).toEqual([]);
});

test('a message of a megabyte is cut', async () => {
  const scene = new Scene();
  await scene.report(degraded('Away', 'x'.repeat(1_000_000)));
  const sizes = scene.status.conditions.map(({ message }) => message.length);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2_000);
  expect(Math.min(...sizes)).toBeGreaterThan(1_900);
});

test('a trouble is told once, and again with another reason or another spec', async () => {
  const scene = new Scene();
  const told = () => scene.events().map((one) => one.told);
  await scene.report(degraded('Away'));
  await scene.report(degraded('Away', 'Another sentence.'));
  expect(told()).toEqual(['Warning Away']);
  await scene.report(degraded('Lost'));
  expect(told()).toEqual(['Warning Away', 'Warning Lost']);
  scene.kube.change(REF, AT, { spec: { replicas: 5 } });
  await scene.report(degraded('Lost'));
  expect(told()).toHaveLength(3);
});

test('what could not be observed is Unknown, without an Event, and the rest stays', async () => {
  const scene = new Scene();
  await scene.report([]);
  const reason = { reason: 'RightsMissing', message: 'It may not look.' };
  const why = { ...reason, next: 'Look', unknown: ['Ready'] };
  await reportUnobserved(scene.writer, scene.object(), why, signal);
  expect(scene.status).toMatchObject({
    ready: '3/3',
    plan: { next: 'Look', waitsFor: reason.message },
    conditions: [
      { type: 'Ready', status: 'Unknown', ...reason },
      { type: 'Progressing', status: 'False', ...reason },
      { type: 'Degraded', status: 'True', ...reason },
    ],
  });
  expect(scene.events()).toEqual([]);
});

test('an Event names the object and who did it; the same deed is told once', async () => {
  const scene = new Scene();
  const deed = { type: 'Normal', reason: 'Applied', message: 'Service db is new.' } as const;
  const object = scene.object();
  for (let times = 0; times < 2; times += 1)
    await recordEventOn(scene.writer, object, deed, signal);
  const { uid } = object.metadata;
  const involvedObject = { apiVersion: 'example.org/v1', kind: 'Database', ...AT, uid };
  const source = { component: 'keeper' };
  expect(scene.events()).toEqual([{ told: 'Normal Applied', source, involvedObject }]);
});
