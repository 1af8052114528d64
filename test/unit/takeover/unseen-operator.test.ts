// An operator that nobody can look at is no operator that is stopped: whatever is taken over,
// nothing is done meanwhile, and a rollback does not say that all is as before.
import { expect, test } from 'vitest';
import { Carrying, COREOS } from './carrying.ts';
import { JoinCarrying } from './join-carrying.ts';
import { once } from './lives.ts';
import { NatsCarrying } from './nats-carrying.ts';
import { beginNats, putNatsOperator } from './nats-world.ts';
import { at } from './others-at-work.ts';
import { type AnyRun, replicasOf } from './takeover-run.ts';
import { WipeCarrying } from './wipe-carrying.ts';
import { begin, DEPLOYMENTS, forbid, namespace, putTakeover, world } from './world.ts';

const LONG = 30;

/** The Takeover names its operator, which it may look at by that name alone. */
function named(operator: string): void {
  const takeover = world.kube.objects.get(`takeovers/${namespace}/over`);
  const { legacy, ...spec } = Object(takeover?.['spec']) as Record<string, unknown>;
  putTakeover({ ...spec, legacy: { ...Object(legacy), operator: at(operator) } });
}

function beginNamed(spec: object = {}): void {
  begin({ spec });
  named('etcd-operator');
}

function beginNatsNamed(): void {
  beginNats();
  putNatsOperator(1);
  named('nats-operator');
}

const RUNS = [
  ['Restore', () => Carrying.confirmed({ ...COREOS, begin: beginNamed }), 'etcd-operator'],
  ['Join', () => JoinCarrying.confirmed(() => beginNamed({ mode: 'Join' })), 'etcd-operator'],
  ['Wipe', () => WipeCarrying.confirmed({ start: beginNamed }), 'etcd-operator'],
  ['Route', () => NatsCarrying.confirmed(beginNatsNamed), 'nats-operator'],
] as const;

/** Once, when one of these steps is begun. */
function befallOnce(run: AnyRun, steps: readonly string[], befall: () => void): void {
  run.befalls = once(() => steps.includes(run.step ?? ''), befall);
}

/** Amid its way it is rolled back, and this befalls it. */
const backWith = (run: AnyRun, befall: () => void): void =>
  befallOnce(run, ['MakeCluster', 'JoinMembers'], () => {
    befall();
    run.edit({ rollback: true });
  });

const AT_FIRST = ['StopOperator'];

test.each(RUNS)('%s: one that may not be looked at is not stopped', async (_, start, operator) => {
  const run = await start();
  const { kube } = world;
  const get = kube.get.bind(kube);
  const before = run.writes.length;
  befallOnce(run, AT_FIRST, () => forbid('deployments', operator));
  expect(await run.converge(LONG)).toBe(false);
  expect([run.condition(), replicasOf(run, operator)]).toEqual(['True OperatorForbidden', 1]);
  expect(run.changesFrom(before)).toEqual([]);
  kube.get = get;
  expect(await run.converge()).toBe(true);
  expect([run.status.phase, replicasOf(run, operator)]).toEqual(['Done', 0]);
});

test.each(RUNS)('%s: one that is gone is not stopped', async (_, start, operator) => {
  const run = await start();
  const found = world.kube.objects.get(`deployments/${namespace}/${operator}`);
  if (found === undefined) throw new Error('there is none');
  // Its pods are left where somebody deletes it alone.
  befallOnce(run, AT_FIRST, () => world.kube.remove(DEPLOYMENTS, at(operator)));
  expect(await run.converge(LONG)).toBe(false);
  expect(run.condition()).toBe('True OperatorMissing');
  const spec = { ...Object(found['spec']), replicas: 0 };
  world.kube.put(DEPLOYMENTS, { ...found, metadata: at(operator), spec });
  expect(await run.converge()).toBe(true);
  expect(run.status.phase).toBe('Done');
});

test.each(RUNS)('%s: on rollback it is waited for the right', async (_, start, operator) => {
  const run = await start();
  const { kube } = world;
  const get = kube.get.bind(kube);
  backWith(run, () => forbid('deployments', operator));
  expect(await run.converge(LONG)).toBe(false);
  expect([run.condition(), replicasOf(run, operator)]).toEqual(['True OperatorForbidden', 0]);
  kube.get = get;
  expect(await run.converge()).toBe(true);
  expect([run.status.phase, replicasOf(run, operator)]).toEqual(['RolledBack', 1]);
});

test.each(RUNS)('%s: a rollback says that it is gone', async (_, start, operator) => {
  const run = await start();
  backWith(run, () => world.kube.remove(DEPLOYMENTS, at(operator)));
  expect(await run.converge()).toBe(true);
  const complete = run.status.conditions?.find(({ type }) => type === 'Complete');
  expect(complete?.message).toContain(`Deployment ${namespace}/${operator}, which was stopped, `);
});

test('one whose image is another since it was stopped is started again', async () => {
  const run = await Carrying.confirmed();
  const template = { spec: { containers: [{ image: 'example.com/mirrored:v0.9.4' }] } };
  backWith(run, () => world.kube.change(DEPLOYMENTS, at('etcd-operator'), { spec: { template } }));
  expect(await run.converge()).toBe(true);
  expect(replicasOf(run)).toBe(1);
});
