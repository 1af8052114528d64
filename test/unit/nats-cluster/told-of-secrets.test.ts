// Has the budget name the Secrets, so that it changes when one is gone; nothing depends on it.
import { expect, test } from 'vitest';
import { unnamedIn } from '../../../functions/nats-cluster/told-of-secrets.ts';
import { KubeError } from '../../../shared/kube/errors.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { BUDGETS, SECRETS } from '../../../shared/stateful/parts.ts';
import { NAME, NAMESPACE } from './model/cluster-model.ts';
import { Run } from './model/run.ts';

const HOUR_MS = 3_600_000;
const deps = { nowMs: HOUR_MS, namesRefusedAtMs: undefined };

const budgetOf = ({ model }: Run): KubeObject =>
  model.kube.objects.get(`poddisruptionbudgets/${NAMESPACE}/${NAME}`) as KubeObject;

const namedIn = ({ metadata: { ownerReferences = [] } }: KubeObject): readonly string[] =>
  ownerReferences.map(({ kind, name }) => `${kind} ${name}`).toSorted();

/** As an API server answers whose admission wants the right to delete what is given owners. */
function refuseNames(run: Run): () => number {
  const { kube } = run.model;
  const patch = kube.patch.bind(kube);
  let refused = 0;
  kube.patch = (ref, ...rest) => {
    if (ref.resource !== 'poddisruptionbudgets') return patch(ref, ...rest);
    refused += 1;
    const message = "cannot set an ownerRef on a resource you can't delete";
    throw new KubeError('KUBE_FORBIDDEN', message, { verb: 'patch', ref });
  };
  return () => refused;
}

test('the budget names its NatsCluster and each of its Secrets', async () => {
  const run = new Run();
  await run.converge();
  expect(namedIn(budgetOf(run))).toEqual([
    'NatsCluster nats',
    'Secret nats-config',
    'Secret nats-system',
    'Secret nats-user',
  ]);
});

test('where they cannot be named all else is done, and it is tried an hour later', async () => {
  const run = new Run();
  const refused = refuseNames(run);
  await run.converge();
  for (let sweeps = 0; sweeps < 5; sweeps += 1) await run.sweep();
  expect(refused()).toBe(1);
  expect(run.condition('Degraded').status).toBe('False');
  run.model.kube.remove(SECRETS, { namespace: NAMESPACE, name: 'nats-user' });
  await run.converge();
  run.model.nowMs += HOUR_MS;
  for (let sweeps = 0; sweeps < 5; sweeps += 1) await run.sweep();
  expect(refused()).toBe(2);
});

test('a budget that has all of them is left alone, and 64 are enough', () => {
  const secrets = new Map(Array.from({ length: 70 }, (_, index) => [`nats-${index}`, `u${index}`]));
  const budget = { kind: 'PodDisruptionBudget', metadata: { uid: 'b', resourceVersion: '1' } };
  const unnamed = unnamedIn(deps, budget as KubeObject, secrets);
  expect(unnamed?.owners).toHaveLength(64);
  const ownerReferences = unnamed?.owners ?? [];
  const named = { ...budget, metadata: { ...budget.metadata, ownerReferences } };
  expect(unnamedIn(deps, named as KubeObject, secrets)).toBeUndefined();
});

test.each(['nats-user', 'nats-config'])('%s is not named while it is deleted', async (secret) => {
  const run = new Run();
  await run.converge();
  const at = { namespace: NAMESPACE, name: secret };
  run.model.kube.change(SECRETS, at, {
    metadata: { deletionTimestamp: '2026-01-02T00:00:00Z', finalizers: ['example.com/mine'] },
  });
  const ownerReferences = (budgetOf(run).metadata.ownerReferences ?? []).filter(
    ({ name }) => name !== secret,
  );
  run.model.kube.change(
    BUDGETS,
    { namespace: NAMESPACE, name: NAME },
    {
      metadata: { ownerReferences },
    },
  );
  run.forget();
  for (let sweeps = 0; sweeps < 3; sweeps += 1) await run.sweep();
  expect(namedIn(budgetOf(run))).not.toContain(`Secret ${secret}`);
});
