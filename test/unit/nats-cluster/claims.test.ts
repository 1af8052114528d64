// The access mode of claims: which one is rendered, what was there before it could be chosen, and
// what is said when a claim gets no volume.
import { expect, test } from 'vitest';
import { accessModeOf, claimTemplateIn } from '../../../functions/nats-cluster/claim-template.ts';
import { decide } from '../../../functions/nats-cluster/decide.ts';
import { findPending } from '../../../functions/nats-cluster/pending.ts';
import { render } from '../../../functions/nats-cluster/render/manifests.ts';
import type { Claim } from '../../../functions/nats-cluster/state.ts';
import type { AccessMode, NatsClusterSpec } from '../../../shared/api/nats-cluster.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { KubeModel } from './model/kube-model.ts';
import { cluster, CREDENTIALS, NOW_MS, state } from './samples.ts';

const POD = 'ReadWriteOncePod';
const NODE = 'ReadWriteOnce';
const EVENTS = { group: '', version: 'v1', resource: 'events' };

const spec = (accessMode?: AccessMode): Pick<NatsClusterSpec, 'jetStream'> => ({
  jetStream: { fileStorage: { size: '10Gi', ...(accessMode === undefined ? {} : { accessMode }) } },
});

function statefulSet(accessMode: AccessMode): Manifest {
  const { parts } = render(cluster(), CREDENTIALS, { size: 3, accessMode });
  const found = parts.find(({ key }) => key === 'statefulSet');
  if (found === undefined) throw new Error('it has no StatefulSet');
  return found.manifest;
}

test.each<[string, AccessMode | undefined, AccessMode | undefined, AccessMode[], AccessMode]>([
  ['nothing is said and nothing is there', undefined, undefined, [], POD],
  ['the spec says it', NODE, undefined, [], NODE],
  ['the StatefulSet was made before there was a choice', undefined, NODE, [NODE], NODE],
  ['that StatefulSet is being made anew', undefined, undefined, [NODE], NODE],
  ['somebody changed a claim below a StatefulSet', undefined, POD, [NODE], POD],
])('the access mode when %s', (_, said, template, claims, mode) => {
  const present = template === undefined ? undefined : statefulSet(template);
  const own = cluster({ spec: spec(said) });
  const found = claims.map((accessMode) => ({ accessMode }));
  expect(accessModeOf(own, present, found)).toBe(mode);
});

test('it is the only one of the template', () => {
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

const AGE_MS = { old: 61_000, young: 5_000 };

function claimsIn(phases: readonly string[], ageMs: number): readonly Claim[] {
  return state().parts.claims.map((claim, index) => ({
    ...claim,
    phase: phases[index] ?? 'Bound',
    createdAt: new Date(NOW_MS - ageMs).toISOString(),
  }));
}

interface Told {
  readonly type: string;
  readonly message: string;
  readonly at: string;
}

async function pending(found: readonly Claim[], told: readonly Told[] = []) {
  const kube = new KubeModel();
  for (const [index, { type, message, at }] of told.entries()) {
    kube.put(EVENTS, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'shop', name: `e${index}` },
      involvedObject: { kind: 'PersistentVolumeClaim', uid: 'claim-nats-0' },
      type,
      message,
      lastTimestamp: at,
    });
  }
  const deps = { kube: kube.client, nowMs: NOW_MS, signal: new AbortController().signal };
  const pods = state().pods.map((pod) => ({ ...pod, isReady: false }));
  return [...(await findPending(deps, cluster(), pods, found))];
}

const waits = { type: 'Normal', message: 'waiting for a volume', at: '2026-01-02T00:00:00Z' };
const refuses = { type: 'Warning', message: 'not supported', at: '2026-01-01T23:59:00Z' };
const ALL = ['Pending', 'Pending', 'Pending'];

test('a new claim of which nothing bad is told is waited for in silence', async () => {
  expect(await pending(claimsIn(ALL, AGE_MS.young), [waits])).toEqual([]);
  expect(await pending(claimsIn([], AGE_MS.old))).toEqual([]);
});

test("the provisioner's refusal is told at once, and what to set, once", async () => {
  const told = await pending(claimsIn(ALL, AGE_MS.young), [waits, refuses]);
  expect(told).toEqual([
    [
      'nats-0',
      'nats-0 has no volume: claim data-nats-0 (ReadWriteOncePod) of storage class standard is ' +
        'Pending: not supported. If that storage class cannot make ReadWriteOncePod, delete ' +
        'this NatsCluster and its claims, which are empty, and create it with ' +
        'jetStream.fileStorage.accessMode: ReadWriteOnce.',
    ],
  ]);
  const late = await pending(claimsIn(ALL, AGE_MS.old), [waits]);
  expect(late.map(([server]) => server)).toEqual(['nats-0', 'nats-1', 'nats-2']);
  expect(late.filter(([, message]) => message.includes('delete this'))).toHaveLength(1);
  expect(late[0]?.[1]).toContain('is Pending: waiting for a volume.');
  expect(late[1]?.[1]).toContain('is Pending: no Event says why.');
});

test('nobody is told to delete claims of which one has a volume', async () => {
  const [first] = await pending(claimsIn(['Pending'], AGE_MS.old), [refuses]);
  expect(first?.[1]).toMatch(/is Pending: not supported\.$/);
});
