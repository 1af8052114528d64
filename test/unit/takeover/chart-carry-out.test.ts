// A confirmed plan of a NATS of Helm's chart is carried out or rolled back, with the process dying
// at each single write of it, before and after the write is done, and with old reads. The world
// throws when clients that are connected do not hear each other, or cannot connect.
import { expect, test } from 'vitest';
import { PODS, SERVICES, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { chartLabels, chartServices } from '../../builders/legacy-chart.ts';
import { beginChart, LOGIN, place, putChartPod } from './chart-world.ts';
import {
  changesOf,
  expectConverged,
  expectSteps,
  once,
  onceAt,
  testLives,
  usualLives,
} from './lives.ts';
import { NatsCarrying } from './nats-carrying.ts';
import { isNew } from './nats-others.ts';
import { at } from './others-at-work.ts';
import { namesOf, objectIn, specIn } from './takeover-run.ts';

const STEPS = [
  'MakeCluster',
  'JoinRoutes',
  'SwitchService',
  'MoveClients',
  'LeaveRoutes',
  'DeleteLegacy',
];
const NEW_PODS = ['new-0', 'new-1', 'new-2'];
const OLD_PODS = ['old-0', 'old-1', 'old-2'];
const SELECTOR = {
  'app.kubernetes.io/component': 'nats',
  'app.kubernetes.io/instance': 'old',
  'app.kubernetes.io/name': 'nats',
};

const confirmed = (): Promise<NatsCarrying> => NatsCarrying.confirmed(() => beginChart());

function serviceIn(run: NatsCarrying) {
  const { selector, ports } = specIn(run, 'services/old');
  const { targetPort } = Object(ports[0]);
  const { labels } = objectIn(run, 'services/old')?.metadata ?? {};
  return { selector, targetPort, by: labels?.['app.kubernetes.io/managed-by'] };
}

function expectDone(run: NatsCarrying): void {
  expectSteps(run, STEPS);
  run.tick();
  expect(namesOf(run, 'statefulsets')).toEqual(['new']);
  expect(namesOf(run, 'pods')).toEqual(NEW_PODS);
  expect(namesOf(run, 'services')).toEqual(['new', 'new-headless', 'old', 'old-headless']);
  expect(namesOf(run, 'configmaps')).toEqual(['old-config']);
  const selector = { 'ballast.dev/nats-cluster': 'new' };
  expect(serviceIn(run)).toEqual({ selector, targetPort: 4222, by: undefined });
  expect(specIn(run, 'natsclusters/new')).toMatchObject({ clusterName: 'old' });
  expect([...run.clients.values()].every((pod) => isNew(pod))).toBe(true);
}

function expectRolledBack(run: NatsCarrying): void {
  expect(run.status.phase).toBe('RolledBack');
  run.tick();
  expect(namesOf(run, 'natsclusters')).toEqual([]);
  expect(namesOf(run, 'statefulsets')).toEqual(['old']);
  expect(namesOf(run, 'pods')).toEqual(OLD_PODS);
  expect(namesOf(run, 'secrets')).toEqual([]);
  expect(serviceIn(run)).toEqual({ selector: SELECTOR, targetPort: 'nats', by: 'Helm' });
}

test('it is carried out step by step, and each rests on what is written down', async () => {
  const run = await confirmed();
  expect(await changesOf(run)).toEqual([
    'create natsclusters new',
    'create secrets new-users',
    'patch natsclusters new',
    'patch services old',
    'patch statefulsets old',
    'patch statefulsets old',
    'patch statefulsets old',
    'patch natsclusters new',
    'delete statefulsets old',
  ]);
  expectDone(run);
  const { stringData } = Object(objectIn(run, 'secrets/new-users'));
  expect(stringData).toEqual({ web: LOGIN.password });
  expect(JSON.stringify(run.status)).not.toContain(LOGIN.password);
});

testLives(confirmed, usualLives(STEPS, 'MoveClients', { expectDone, expectRolledBack }));

const remake = ({ kube }: NatsCarrying): void => {
  kube.remove(PODS, at('old-1'));
  putChartPod(1, kube);
};

test.each(['MakeCluster', 'SwitchService', 'MoveClients'])(
  'a pod that is made anew at %s stops nothing',
  async (step) => {
    const run = await confirmed();
    run.befalls = onceAt(step, remake);
    await expectConverged(run);
    expectDone(run);
  },
);

test('where all its pods are gone it is scaled down before it is deleted', async () => {
  const run = await confirmed();
  run.befalls = onceAt('MoveClients', (one) => {
    one.isSetAsleep = true;
    for (const name of OLD_PODS) one.kube.remove(PODS, at(name));
  });
  await expectConverged(run);
  expectDone(run);
  const ofSet = run.writes.filter((write) => write.endsWith(' statefulsets old'));
  expect(ofSet).toEqual(['patch statefulsets old', 'delete statefulsets old']);
  expect(run.status.work?.switchingAt).toBeDefined();
});

test('where the StatefulSet is scaled up nobody is led over', async () => {
  const run = await confirmed();
  const up = { spec: { replicas: 4 } };
  run.befalls = onceAt('MakeCluster', ({ kube }) => kube.change(STATEFUL_SETS, at('old'), up));
  expect(await run.converge(40)).toBe(false);
  expect(run.condition()).toBe('True ServersAppeared');
  expect(run.advice()).toContain('(kubectl -n shop scale statefulset old --replicas=3)');
  expect(serviceIn(run).selector).toEqual(SELECTOR);
});

test('servers that somebody brings back leave again', async () => {
  const run = await confirmed();
  const up = { spec: { replicas: 3 } };
  run.befalls = onceAt('LeaveRoutes', ({ kube }) => kube.change(STATEFUL_SETS, at('old'), up));
  await expectConverged(run);
  expectDone(run);
});

/** Helm 3 and `kubectl apply` take nothing away that the chart does not know. */
const upgrade = (run: NatsCarrying): void => {
  const [{ spec }] = chartServices(place);
  run.isMisled = true;
  run.kube.change(SERVICES, at('old'), { metadata: { labels: chartLabels('old') }, spec });
  run.kube.change(STATEFUL_SETS, at('old'), { spec: { replicas: 3 } });
};

test.each(['MoveClients', 'LeaveRoutes'])(
  'where Helm 3 upgrades the chart at %s clients are led over once more',
  async (step) => {
    const run = await confirmed();
    run.befalls = onceAt(step, upgrade);
    await expectConverged(run);
    expectDone(run);
  },
);

const isLed = (run: NatsCarrying): boolean =>
  Object.hasOwn(serviceIn(run).selector, 'ballast.dev/nats-cluster');

const isJustLed = (run: NatsCarrying): boolean => run.step === 'SwitchService' && isLed(run);

/** Once, while there is a way back, as soon as clients are led over. */
const onceLed = (change: (run: NatsCarrying) => void): NatsCarrying['befalls'] =>
  once(isJustLed, (run) => {
    change(run);
    run.edit({ rollback: true });
  });

test('where Helm 3 has upgraded the chart a rollback leads clients back first', async () => {
  const run = await confirmed();
  run.befalls = onceLed(upgrade);
  await expectConverged(run);
  expectRolledBack(run);
});

test.each<readonly [string, object]>([
  ['both, without the mark of Helm', SELECTOR],
  ['somebody else', { 'ballast.dev/nats-cluster': 'other' }],
])('a rollback keeps the new servers while the Service leads to %s', async (_, selector) => {
  const run = await confirmed();
  run.befalls = onceLed((one) => {
    one.isMisled = true;
    one.kube.change(SERVICES, at('old'), { spec: { selector } });
  });
  expect(await run.converge(40)).toBe(false);
  expect(run.condition()).toBe('True ServiceChanged');
  expect(namesOf(run, 'natsclusters')).toEqual(['new']);
  const back = { ...SELECTOR, 'ballast.dev/nats-cluster': null };
  run.kube.change(SERVICES, at('old'), { spec: { selector: back } });
  await expectConverged(run);
  expect([run.status.phase, namesOf(run, 'natsclusters')]).toEqual(['RolledBack', []]);
});

test('a rollback keeps the new servers while there is no Service, and takes another', async () => {
  const run = await confirmed();
  run.befalls = onceLed((one) => {
    one.isMisled = true;
    one.kube.remove(SERVICES, at('old'));
  });
  expect(await run.converge(40)).toBe(false);
  expect([run.condition(), namesOf(run, 'natsclusters')]).toEqual(['True ServiceChanged', ['new']]);
  run.kube.put(SERVICES, chartServices(place)[0]);
  await expectConverged(run);
  expectRolledBack(run);
});

test('where the Service leads elsewhere no server leaves', async () => {
  const run = await confirmed();
  const elsewhere = { spec: { selector: { ...SELECTOR, 'ballast.dev/nats-cluster': null } } };
  const other = { spec: { selector: { 'app.kubernetes.io/instance': null } } };
  run.befalls = onceAt('SwitchService', ({ kube }) => {
    kube.change(SERVICES, at('old'), elsewhere);
    kube.change(SERVICES, at('old'), other);
  });
  expect(await run.converge(40)).toBe(false);
  expect(run.condition()).toBe('True ServiceChanged');
  expect(run.kube.writes.filter((one) => one.startsWith('patch statefulsets'))).toEqual([]);
});

const leadToPort = (targetPort: unknown) => (run: NatsCarrying) => {
  const [{ spec }] = chartServices(place);
  const ports = Object(spec).ports.map((one: object) => ({ ...one, targetPort }));
  run.kube.change(SERVICES, at('old'), { spec: { ports } });
};

test.each<readonly [string, unknown, (run: NatsCarrying) => boolean]>([
  ['not led over', 9999, ({ step }) => step === 'MakeCluster'],
  ['left by no server', 'nats', isJustLed],
])('a Service whose port the servers do not have is %s', async (_, port, isTime) => {
  const run = await confirmed();
  run.befalls = once(isTime, leadToPort(port));
  expect(await run.converge(40)).toBe(false);
  expect([serviceIn(run).targetPort, run.condition()]).toEqual([port, 'True ServiceChanged']);
  expect(run.writes.filter((one) => one.startsWith('patch statefulsets'))).toEqual([]);
  expect(isLed(run)).toBe(port === 'nats');
  leadToPort(4222)(run);
  await expectConverged(run);
  expectDone(run);
});

test('a rollback keeps the new servers while the Service leads to a port of theirs', async () => {
  const run = await confirmed();
  run.befalls = onceLed(leadToPort('client'));
  expect(await run.converge(40)).toBe(false);
  expect([run.condition(), isLed(run)]).toEqual(['True ServiceChanged', false]);
  expect(namesOf(run, 'natsclusters')).toEqual(['new']);
  leadToPort('nats')(run);
  await expectConverged(run);
  expectRolledBack(run);
});

test.each(['MakeCluster', 'JoinRoutes', 'SwitchService'])(
  'where servers begin to keep streams at %s no client is led over',
  async (step) => {
    const run = await confirmed();
    run.befalls = onceAt(step, (one) => {
      one.hasStreams = true;
    });
    expect(await run.converge(40)).toBe(false);
    expect(run.condition()).toBe('True JetStreamOn');
    expect(run.advice()).toContain('spec.rollback: true');
    expect(serviceIn(run).selector).toEqual(SELECTOR);
    run.edit({ rollback: true });
    await expectConverged(run);
    expectRolledBack(run);
  },
);

test('once servers leave it goes on, whatever they keep', async () => {
  const run = await confirmed();
  run.befalls = onceAt('MoveClients', (one) => {
    one.hasStreams = true;
  });
  await expectConverged(run);
  expectDone(run);
});

const made = ({ writes }: NatsCarrying): readonly string[] =>
  writes.filter((one) => /^create (?:natsclusters|secrets) /.test(one));

test.each<[string, (run: NatsCarrying) => boolean, readonly string[]]>([
  ['before the NatsCluster is made', ({ step }) => step === 'MakeCluster', []],
  ['before its users are', (run) => made(run).length === 1, ['create natsclusters new']],
])('servers that run on other passwords %s stop it', async (_, isTime, writes) => {
  const run = await confirmed();
  run.befalls = (one) => {
    if (isTime(one)) one.digest = 'of before';
  };
  expect(await run.converge(40)).toBe(false);
  expect([run.condition(), made(run)]).toEqual(['True ConfigNotLoaded', writes]);
});
