// The access mode of claims: how it is rendered, which edits are refused, and what is said of it
// when a claim gets no volume.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/nats-cluster/decide.ts';
import { render } from '../../../functions/nats-cluster/render/manifests.ts';
import type { NatsClusterSpec } from '../../../shared/api/nats-cluster.ts';
import type { AccessMode } from '../../../shared/api/servers.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { claimTemplateIn } from '../../../shared/stateful/claim-template.ts';
import { CLAIMS, PODS } from '../../../shared/stateful/parts.ts';
import { Run } from './model/run.ts';
import { cluster, CREDENTIALS, state } from './samples.ts';

const POD = 'ReadWriteOncePod';
const NODE = 'ReadWriteOnce';

const spec = (accessMode?: AccessMode): Pick<NatsClusterSpec, 'jetStream'> => ({
  jetStream: { fileStorage: { size: '10Gi', ...(accessMode === undefined ? {} : { accessMode }) } },
});

function statefulSet(accessMode: AccessMode): Manifest {
  const { parts } = render(cluster(), CREDENTIALS, { size: 3, accessMode });
  const found = parts.find(({ key }) => key === 'statefulSet');
  if (found === undefined) throw new Error('it has no StatefulSet');
  return found.manifest;
}

test('the access mode is the only one of the template', () => {
  expect(claimTemplateIn(statefulSet(POD))?.accessModes).toEqual([POD]);
  expect(claimTemplateIn(statefulSet(NODE))?.accessModes).toEqual([NODE]);
});

test('a new cluster does not take claims that have another access mode', () => {
  const parts = { found: new Map() };
  const fresh = { parts, pods: () => [] };
  const refused = decide(state({ ...fresh, spec: spec(NODE) }));
  expect(refused.trouble?.reason).toBe('AccessModeKept');
  expect(refused.trouble?.message).toContain('Claim data-nats-0 is there already');
  expect(decide(state({ ...fresh, spec: spec(POD) })).trouble).toBeUndefined();
  expect(decide(state({ ...fresh, spec: spec() })).trouble).toBeUndefined();
  // While the StatefulSet is made anew around its pods nothing stops it.
  expect(decide(state({ parts, spec: spec(NODE) })).trouble).toBeUndefined();
});

test('who has no claim with a volume is told which field makes one that can be had', async () => {
  const run = new Run();
  await run.converge();
  const { kube } = run.model;
  for (const server of ['nats-0', 'nats-1', 'nats-2']) {
    const conditions = [{ type: 'Ready', status: 'False' }];
    kube.change(PODS, { namespace: 'shop', name: server }, { status: { conditions } });
    const status = { phase: 'Pending' };
    kube.change(CLAIMS, { namespace: 'shop', name: `data-${server}` }, { status });
  }
  run.model.nowMs += 300_000;
  await run.sweep();
  const { message } = run.condition('Degraded');
  expect(message).toContain(
    'If that storage class cannot make ReadWriteOncePod, delete this NatsCluster and its claims, ' +
      'which are empty, and create it with jetStream.fileStorage.accessMode: ReadWriteOnce.',
  );
});
