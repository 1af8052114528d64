// A Deployment with no replicas may have pods that are still ending, which its status leaves out:
// the operator in them works on until they are gone.
import { expect, test } from 'vitest';
import { Carrying } from './carrying.ts';
import { at } from './others-at-work.ts';
import { DEPLOYMENTS, NOW_MS, plan, putOperator, begin, world } from './world.ts';

const SHORT = 3;

const told = (run: Carrying, terminatingReplicas: number): void => {
  run.kube.change(DEPLOYMENTS, at('etcd-operator'), {
    status: { replicas: 0, terminatingReplicas },
  });
};

/** Its controller wrote its status then. */
const statusWritten = (seconds: number): object => {
  const time = new Date(NOW_MS + seconds * 1_000).toISOString();
  const entry = { manager: 'kube-controller-manager', operation: 'Update', time };
  return { managedFields: [{ ...entry, subresource: 'status', apiVersion: 'apps/v1' }] };
};

test('it is awaited that pods that end are gone, where that is told', async () => {
  const run = await Carrying.confirmed();
  told(run, 1);
  expect(await run.converge(SHORT)).toBe(false);
  expect([run.step, run.condition('Complete')]).toEqual(['StopOperator', 'False OperatorStopping']);
  told(run, 0);
  expect(await run.converge()).toBe(true);
});

test.each([
  ['as usual', {}, 30],
  ['as its pods say', { terminationGracePeriodSeconds: 90 }, 90],
])('where it is not told it is waited as long as they may take, %s', async (_, pod, seconds) => {
  const run = await Carrying.confirmed();
  const spec = { template: { spec: pod } };
  const LATE = 20;
  run.kube.change(DEPLOYMENTS, at('etcd-operator'), { metadata: statusWritten(LATE), spec });
  let stoppedMs = 0;
  run.befalls = ({ etcds, step }) => {
    if (step === 'StopOperator') stoppedMs = etcds.ms;
  };
  run.edit({ confirm: run.status.plan?.id });
  expect(await run.converge()).toBe(true);
  expect(stoppedMs - NOW_MS).toBeGreaterThan((LATE + seconds) * 1_000);
});

test('the plan is the same, whenever its status is written', async () => {
  begin();
  putOperator(0);
  const { id } = await plan();
  expect(id).toBeDefined();
  world.kube.change(DEPLOYMENTS, at('etcd-operator'), { metadata: statusWritten(5) });
  expect((await plan()).id).toBe(id);
});
