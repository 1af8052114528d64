// The API server refuses to lead the Service of the clients over, by a right, a policy or a
// webhook: it is said before writers wait, and whenever it comes a rollback works. And nobody is
// told that clients are led over without a look at the Service.
import { expect, test } from 'vitest';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { SERVICES } from '../../../shared/stateful/parts.ts';
import { Carrying } from './carrying.ts';
import { JoinCarrying } from './join-carrying.ts';
import { once, onceAt } from './lives.ts';
import { NatsCarrying } from './nats-carrying.ts';
import { at } from './others-at-work.ts';
import { expectDone } from './restore-lives.ts';
import { type AnyRun, specIn } from './takeover-run.ts';
import { WipeCarrying } from './wipe-carrying.ts';
import { DEPLOYMENTS, namespace, world } from './world.ts';

const LONG = 40;
const refusesPatch = (resource: string): boolean => resource === 'services to be patched';
const never = (): boolean => false;

const RUNS = [
  ['Restore', () => Carrying.confirmed(), 'old-client'],
  ['Join', () => JoinCarrying.confirmed(), 'old-client'],
  ['Wipe', () => WipeCarrying.confirmed(), 'old-client'],
  ['Route', () => NatsCarrying.confirmed(), 'old'],
] as const;

const NOTED = RUNS.filter(([mode]) => mode === 'Restore' || mode === 'Wipe');

/** From the moment on in which this holds. */
function refuseOnce(run: AnyRun, isTime: () => boolean): void {
  run.befalls = once(isTime, () => {
    run.kube.refuses = refusesPatch;
  });
}

const selectorOf = (service: string): unknown => specIn(world, `services/${service}`).selector;

/** With one no write is taken; other modes raise none. */
const alarmsOf = (run: object): unknown => (run instanceof Carrying ? run.etcds.alarms : []);

test.each(RUNS)('%s: it is said in the plan', async (_, start) => {
  const run = await start();
  run.kube.refuses = refusesPatch;
  expect(await run.converge(3)).toBe(false);
  const { plan, work } = run.status;
  expect(plan?.refusals.map(({ reason }) => reason)).toEqual(['ServiceRefused']);
  expect([plan?.id, work]).toEqual([undefined, undefined]);
});

test.each(RUNS)('%s: refused when it is next, it can be rolled back', async (_, start, service) => {
  const run = await start();
  const before = selectorOf(service);
  refuseOnce(run, () => run.step === 'SwitchService');
  expect(await run.converge(LONG)).toBe(false);
  expect(run.condition()).toBe('True ServiceRefused');
  expect(run.status.work?.switchingAt).toBeUndefined();
  run.edit({ rollback: true });
  expect(await run.converge(LONG)).toBe(true);
  expect([run.status.phase, selectorOf(service)]).toEqual(['RolledBack', before]);
  expect(alarmsOf(run)).toEqual([]);
});

test.each(NOTED)('%s: refused once it is noted, it is noted back', async (_, start, service) => {
  const run = await start();
  const before = selectorOf(service);
  refuseOnce(run, () => run.status.work?.switchingAt !== undefined);
  expect(await run.converge(LONG)).toBe(false);
  expect([run.condition(), selectorOf(service)]).toEqual(['True ServiceRefused', before]);
  expect(run.status.work?.switchingAt).toBeUndefined();
  run.edit({ rollback: true });
  expect(await run.converge(LONG)).toBe(true);
  expect([run.status.phase, selectorOf(service)]).toEqual(['RolledBack', before]);
  expect(alarmsOf(run)).toEqual([]);
});

test.each(NOTED)('%s: noted back, it goes on once it is allowed', async (_, start) => {
  const run = await start();
  refuseOnce(run, () => run.status.work?.switchingAt !== undefined);
  expect(await run.converge(LONG)).toBe(false);
  run.kube.refuses = never;
  expect(await run.converge(LONG)).toBe(true);
  expect(run.status.phase).toBe('Done');
  if (run instanceof Carrying) expectDone(run);
});

test('a patch that comes late has led clients over, and nothing is taken back', async () => {
  const run = await Carrying.confirmed();
  refuseOnce(run, () => run.status.work?.switchingAt !== undefined);
  expect(await run.converge(3)).toBe(false);
  expect(run.condition()).toBe('True ServiceRefused');
  run.edit({ rollback: true });
  const isBack = ({ status }: Carrying): boolean => status.work?.rollingBackAt !== undefined;
  run.befalls = once(isBack, ({ kube }) => {
    const spec = { selector: { ...NONE_OF_OLD, 'ballast.dev/etcd-cluster': 'new' } };
    kube.change(SERVICES, at('old-client'), { metadata: { ownerReferences: null }, spec });
  });
  const before = run.writes.length;
  expect(await run.converge(LONG)).toBe(false);
  expect(run.condition()).toBe('True LedOver');
  expect(run.writes.slice(before).filter((one) => /^(delete|etcd)/.test(one))).toEqual([]);
  run.kube.refuses = never;
  run.edit({ rollback: false });
  expect(await run.converge(LONG)).toBe(true);
  expectDone(run);
});

const NONE_OF_OLD = { app: null, etcd_cluster: null };

test('a Service that somebody leads back once it was led over gives no way back', async () => {
  const run = await Carrying.confirmed();
  const first = world.kube.objects.get(`services/${namespace}/old-client`);
  const operator = world.kube.objects.get(`deployments/${namespace}/etcd-operator`);
  if (first === undefined || operator === undefined) throw new Error('there is none');
  run.befalls = onceAt('OrphanClaims', ({ kube }) => {
    const { ownerReferences } = first.metadata;
    const { selector } = Object(first['spec']);
    const spec = { selector: { ...selector, 'ballast.dev/etcd-cluster': null } };
    kube.change(SERVICES, at('old-client'), { metadata: { ownerReferences }, spec });
    kube.put(DEPLOYMENTS, { ...operator, metadata: at('another-operator') });
  });
  expect(await run.converge(LONG)).toBe(false);
  expect(run.condition()).toBe('True OperatorAppeared');
  expect(run.status.work?.switchingAt).toBeDefined();
});

test('Wipe: where the new one is lost just before the switch there is a way back', async () => {
  const run = await WipeCarrying.confirmed();
  const before = selectorOf('old-client');
  const isNoted = ({ status }: WipeCarrying): boolean => status.work?.switchingAt !== undefined;
  run.befalls = once(isNoted, ({ kube }) => {
    kube.remove(ETCD_CLUSTERS, at('new'));
    const metadata = { ...at('new'), labels: { 'example.com/of': 'somebody' } };
    const annotations = { 'ballast.dev/etcd-cluster-id': 'waits' };
    const theirs = { ...metadata, annotations };
    kube.put(ETCD_CLUSTERS, { apiVersion: 'v1', kind: 'EtcdCluster', metadata: theirs });
  });
  expect(await run.converge(LONG)).toBe(false);
  expect(run.condition()).toBe('True NameTaken');
  expect([run.status.work?.switchingAt, selectorOf('old-client')]).toEqual([undefined, before]);
});

/** The old object is gone, and nobody has said yet that it is over. */
const isLast = (run: AnyRun, kind: string): boolean =>
  run.step === 'DeleteLegacy' && !run.kube.objects.has(`${kind}/${namespace}/old`);

test.each(RUNS)('%s: it is not over without the Service', async (mode, start, service) => {
  const run = await start();
  const kind = mode === 'Route' ? 'natsclusters' : 'etcdclusters';
  // Clients of these models end where nobody lets them in.
  Object.assign(run, { judge: () => undefined });
  const kept: { service?: Parameters<typeof run.kube.put>[1] } = {};
  run.befalls = () => {
    const found = run.kube.objects.get(`services/${namespace}/${service}`);
    if (kept.service !== undefined || found === undefined || !isLast(run, kind)) return;
    kept.service = found;
    run.kube.remove(SERVICES, at(service));
  };
  await run.converge(LONG).catch(() => undefined);
  expect([run.condition(), run.condition('Complete')]).toEqual([
    'True ServiceChanged',
    'False ServiceChanged',
  ]);
  if (kept.service !== undefined) run.kube.put(SERVICES, kept.service);
  expect(await run.converge(LONG)).toBe(true);
  expect([run.status.phase, run.condition('Complete')]).toEqual(['Done', 'True TakenOver']);
});
