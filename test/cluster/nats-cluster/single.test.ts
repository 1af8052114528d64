// One server in a real pod is enough for these: certificates that its user brings, claims that get
// no volume, pods that cannot run.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { createStorageClass } from '../../builders/storage-class.ts';
import { SCENARIO_MS } from '../../integration/nats-cluster/scene.ts';
import { bringCertificate, bringUnfitCertificate } from './certificates.ts';
import { PodPlace } from './pod-place.ts';
import { begunBeside, callsForHelp, makeStuck, removeStuck, STUCK_REASONS } from './stuck.ts';
import { timed } from '../support/timed.ts';

let place: PodPlace;
let ours: RunningFunction;
const settings = { timeout: SCENARIO_MS };

beforeAll(async () => {
  place = await PodPlace.open();
  await place.namespace('small');
  ours = await place.startFunction();
}, SCENARIO_MS);

afterAll(async () => {
  await place?.close();
}, SCENARIO_MS);

test(
  'a certificate of the user is taken over without a restart, if it fits',
  settings,
  async () => {
    const secure = { place, ours, cluster: { namespace: 'small', name: 'secure' } };
    const spec = { replicas: 1, lameDuck: { graceSeconds: 1 }, tls: { clients: {} } };
    await place.create(secure.cluster, spec);
    await place.wakeUntilReady(ours, secure.cluster);
    const { before, after } = await timed('certificate shown', () => bringCertificate(secure));
    expect(after).toHaveLength(1);
    expect(after).not.toEqual(before);
    const unfit = await bringUnfitCertificate(secure);
    expect(unfit).toEqual({ before: after, after });
    await place.delete(secure.cluster);
  },
);

test(
  'a provisioner that refuses the access mode is heard, and another mode is set',
  settings,
  async () => {
    const poor = { namespace: 'small', name: 'poor' };
    const claimsOfPoor = ['-n=small', '-l=ballast.dev/nats-cluster=poor'];
    await createStorageClass(place.kube, 'poor', false);
    const fileStorage = { size: '1Gi', storageClassName: 'poor' };
    await place.create(poor, { replicas: 1, jetStream: { fileStorage } });
    const hasClaim = async () => (await place.claims(poor)).length === 1;
    await place.wakeUntil(ours, poor, 'its claim', hasClaim);
    await place.sayOfClaim(poor, 'data-poor-0', 'access mode is not supported');
    const isHeard = async () =>
      (await place.condition(poor, 'Degraded')).startsWith('True ClaimPending');
    await place.wakeUntil(ours, poor, 'the refusal', isHeard);
    expect(await place.condition(poor, 'Degraded')).toContain(
      'claim data-poor-0 (ReadWriteOncePod) of storage class poor is Pending: access mode is not',
    );
    // As it is told there.
    await place.remove(poor);
    await place.kubectl.run('delete', 'pvc', ...claimsOfPoor);
    await place.create(poor, {
      replicas: 1,
      lameDuck: { graceSeconds: 1 },
      jetStream: { fileStorage: { size: '1Gi', accessMode: 'ReadWriteOnce' } },
    });
    await place.wakeUntilReady(ours, poor);
    const modes = '-o=jsonpath={.items[*].spec.accessModes}';
    const found = await place.kubectl.run('get', 'pvc', ...claimsOfPoor, modes);
    expect(found).toBe('["ReadWriteOnce"]');
    await place.delete(poor);
  },
);

test(
  'what keeps a pod from running is said at once, calls for help in time, and holds up nobody',
  settings,
  async () => {
    const stage = { place, ours };
    await timed('stuck', () => makeStuck(stage));
    await timed('another one beside them', () => begunBeside(stage));
    const warnings = await timed('calls for help', () => callsForHelp(stage));
    for (const [index, reason] of STUCK_REASONS.entries()) {
      expect(warnings[index]?.split(' ')).toContain(reason);
    }
    await removeStuck(stage);
  },
);
