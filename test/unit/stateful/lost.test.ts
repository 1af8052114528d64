// Which volumes are taken for lost: their claims are deleted, so only those that no node can have
// any more.
import { expect, test } from 'vitest';
import type { Claim } from '../../../shared/stateful/claims.ts';
import { findLost } from '../../../shared/stateful/lost.ts';
import { KubeModel } from './kube-model.ts';
import { claim, claimName, NOW_MS, pod } from './samples.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource });
const at = (agoMs: number): string => new Date(NOW_MS - agoMs).toISOString();

interface Scene {
  readonly claim?: Partial<Claim>;
  readonly placelessMs?: number;
  readonly isReady?: boolean;
  /** The nodes that the volume can be on, by that label; none when absent. */
  readonly reachable?: readonly [label: string, ...values: readonly string[]];
  readonly isNodeThere?: boolean;
}

async function isLost(scene: Scene): Promise<boolean> {
  const { placelessMs = 301_000, isReady = false, reachable, isNodeThere = false } = scene;
  const kube = new KubeModel();
  const metadata = { namespace: '', name: 'node-a' };
  if (isNodeThere) kube.put(core('nodes'), { apiVersion: 'v1', kind: 'Node', metadata });
  const [key, ...values] = reachable ?? [];
  const matchExpressions = [{ key, operator: 'In', values }];
  const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
  kube.put(core('persistentvolumes'), {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { namespace: '', name: 'volume-db-0' },
    spec: reachable === undefined ? {} : { nodeAffinity },
  });
  const placeless = { isReady, placelessSince: at(placelessMs) };
  const pods = [pod('db-0', placeless)];
  const claims = [claim('db-0', { node: 'node-a', ...scene.claim })];
  const deps = { kube: kube.client, nowMs: NOW_MS, signal: new AbortController().signal };
  const lost = await findLost(deps, pods, claims, claimName);
  return lost.has('db-0');
}

const HOST = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';

test.each<[string, Scene, boolean]>([
  ['on the disk of a node that is no more', { reachable: [HOST, 'node-a'] }, true],
  ["on such a disk, by its driver's own label", { reachable: ['topolvm.io/node', 'node-a'] }, true],
  ['for every node of a zone', { reachable: [ZONE, 'zone-a'] }, false],
  ['for two nodes', { reachable: [HOST, 'node-a', 'node-b'] }, false],
  ['for every node', {}, false],
  ['on a node that is there', { reachable: [HOST, 'node-a'], isNodeThere: true }, false],
  ['young in its search', { reachable: [HOST, 'node-a'], placelessMs: 1_000 }, false],
  ['never made for that node', { claim: { volume: undefined, phase: 'Pending' } }, true],
  ['no more', { claim: { phase: 'Lost' } }, true],
  ['no more, while its server runs', { claim: { phase: 'Lost' }, isReady: true }, false],
])('a volume that is %s', async (_, scene, expected) => {
  expect(await isLost(scene)).toBe(expected);
});
