// Functions of a release before beside those of this one, as while pods are replaced, through the
// steps of the timeline on the real API server. The former ones are the same code, to which the
// API server shows v1alpha1 alone: they neither find v1beta1 nor learn what is stored.
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { etcdClusterRights } from '../../../knative/tools/rights/etcd-cluster.ts';
import { etcdPeerRights } from '../../../knative/tools/rights/etcd-peer.ts';
import { natsClusterRights } from '../../../knative/tools/rights/manifests.ts';
import type { Step } from '../../../knative/try/local/timeline/step-names.ts';
import { SWEEP } from '../../../shared/function/sources.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import {
  BUDGETS,
  NETWORK_POLICIES,
  SECRETS,
  SERVICES,
  STATEFUL_SETS,
} from '../../../shared/stateful/parts.ts';
import { FormerApi } from '../../builders/former-api.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { until } from '../../builders/versioned-kind.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { alpha, beta, ConversionRig } from './rig.ts';

const namespace = 'shop';
const STEP_MS = 120_000;
const LOOKS = 3;
const OWN = ['natsclusters', 'etcdclusters', 'etcdpeers'];
const PARTS = [SECRETS, SERVICES, BUDGETS, NETWORK_POLICIES, STATEFUL_SETS];

let rig: ConversionRig;
let api: FormerApi;
let former: readonly RunningFunction[] = [];
let present: readonly RunningFunction[] = [];

beforeAll(async () => {
  rig = await ConversionRig.start(sharedPlane());
  api = await FormerApi.start(rig.plane);
  const { kube } = rig;
  const core = { group: '', version: 'v1', resource: 'namespaces' };
  await kube.create(core, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const rights = [natsClusterRights, etcdClusterRights, etcdPeerRights];
  await applyObjects(
    kube,
    rights.flatMap((of) => of(namespace)).map((object) => ({ file: 'npm run rights', object })),
  );
  const apiVersion = 'ballast.dev/v1alpha1';
  const nats = { apiVersion, kind: 'NatsCluster', metadata: { namespace, name: 'nats' } };
  await kube.create(alpha('natsclusters'), { ...nats, spec: {} });
  const main = { apiVersion, kind: 'EtcdCluster', metadata: { namespace, name: 'main' } };
  const spec = { compaction: { mode: 'Periodic', retention: '60m' } };
  await kube.create(alpha('etcdclusters'), { ...main, spec });
  former = await rig.startKeepers(api.url);
  present = await rig.startKeepers();
}, STEP_MS);

afterAll(async () => {
  await Promise.all([...former, ...present].map((one) => one.stop()));
  api?.stop();
  await rig?.stop();
});

/** Whether each of them has looked at all that there is. */
async function look(functions: readonly RunningFunction[]): Promise<boolean> {
  const answers = await Promise.all(functions.map(({ port }) => sendEvent(port, SWEEP, {})));
  return answers.every(({ ok }) => ok);
}

async function all(): Promise<readonly KubeObject[]> {
  const refs = [...OWN.map(beta), ...PARTS];
  const lists = await Promise.all(refs.map((ref) => rig.kube.list(ref, { namespace })));
  return lists.flatMap(({ items }) => items);
}

const versionsOf = (objects: readonly KubeObject[]): object =>
  Object.fromEntries(
    objects.map(({ kind, metadata }) => [`${kind} ${metadata.name}`, metadata.resourceVersion]),
  );

/** They take turns, and a write of one is a look of the other: who fights writes in each turn. */
async function expectRest(): Promise<void> {
  await until(
    'neither to write what the other wrote',
    async () => {
      const before = versionsOf(await all());
      for (let turn = 0; turn < LOOKS; turn += 1) {
        expect(await look(former)).toBe(true);
        expect(await look(present)).toBe(true);
      }
      return isDeepStrictEqual(versionsOf(await all()), before);
    },
    STEP_MS,
  );
}

/** Objects by what they say, without who wrote it and when. */
async function said(): Promise<object> {
  return Object.fromEntries(
    (await all()).map(({ kind, metadata, ...rest }) => {
      const owners = (metadata.ownerReferences ?? []).map(({ uid }) => uid);
      return [`${kind} ${metadata.name}`, { uid: metadata.uid, owners, ...rest }];
    }),
  );
}

async function go(step: Step): Promise<void> {
  await rig.applyStep(step, OWN);
  await rig.whenConverting();
}

let before: object;

test(
  'they rest beside each other at each step in which both versions are served',
  async () => {
    await until('all parts', async () => {
      await look(former);
      const kinds = new Set((await all()).map(({ kind }) => kind));
      return kinds.size === OWN.length + PARTS.length;
    });
    await expectRest();
    before = await said();
    for (const step of ['2-stored', '1-served', '2-stored', '3-deprecated'] as const) {
      await go(step);
      await expectRest();
      expect(await said()).toEqual(before);
    }
  },
  4 * STEP_MS,
);

test(
  'where v1alpha1 is not served the former ones stand still, and do no harm',
  async () => {
    await go('4-unserved');
    for (const resource of OWN) await rig.whenAway(resource);
    await until('the present ones to rest', async () => {
      const versions = versionsOf(await all());
      expect(await look(present)).toBe(true);
      return isDeepStrictEqual(versionsOf(await all()), versions);
    });
    const versions = versionsOf(await all());
    expect(await look(former)).toBe(false);
    expect(versionsOf(await all())).toEqual(versions);
    expect(await said()).toEqual(before);
  },
  STEP_MS,
);

test(
  'after the step back those that found v1beta1 rest beside those that find v1alpha1',
  async () => {
    await go('3-deprecated');
    await until('the former ones to go on', () => look(former));
    await expectRest();
    expect(await said()).toEqual(before);
    const { kube } = rig;
    const at = { namespace, name: 'main' };
    const body = { spec: { compaction: { mode: 'Periodic', retention: '90m' } } };
    await kube.patch(alpha('etcdclusters'), at, { type: 'merge', body });
    await expectRest();
    for (const { kind, spec } of await all()) {
      if (!kind.startsWith('Etcd')) continue;
      expect(spec).toMatchObject({ compaction: { mode: 'Periodic', retentionSeconds: 5_400 } });
    }
  },
  2 * STEP_MS,
);
