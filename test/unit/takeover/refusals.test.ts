// Reasons against a takeover: each time nothing is made, there is no plan to confirm, and a
// sentence says what to do.
import { beforeEach, describe, expect, test } from 'vitest';
import { LEGACY_ETCDS } from '../../../shared/api/takeover.ts';
import { PODS, SERVICES, CLAIMS } from '../../../shared/stateful/parts.ts';
import { KubeError } from '../../../shared/kube/errors.ts';
import {
  answer,
  answerOf,
  begin,
  conditionOf,
  DEPLOYMENTS,
  forbid,
  namespace,
  notes,
  plan,
  putOperator,
  putPod,
  putService,
  putTakeover,
  PODS_OF_OLD,
  refusal,
  refusals,
  specTried,
  statusOf,
  sweep,
  world,
} from './world.ts';

beforeEach(() => {
  begin();
});

const into = (spec: object) => ({ into: { name: 'new', spec: { quota: '2Gi', ...spec } } });

describe('of the old cluster', () => {
  test('one that is refused has no id, and a person is told', async () => {
    world.kube.remove(SERVICES, { namespace, name: 'old-client' });
    expect(await sweep()).toEqual(['apply takeovers/status over']);
    expect(statusOf().plan?.id).toBeUndefined();
    expect([conditionOf('Planned'), conditionOf('Degraded')]).toEqual([
      'False ServiceMissing',
      'True ServiceMissing',
    ]);
    expect(statusOf().plan?.objects.length).toBeGreaterThan(5);
  });

  test('it is not there', async () => {
    world.kube.remove(LEGACY_ETCDS, { namespace, name: 'old' });
    expect(await refusal()).toMatch(
      /^LegacyMissing: There is no EtcdCluster shop\/old of etcd\.data.*npm run takeover/,
    );
    expect((await plan()).objects).toEqual([]);
  });

  test('nobody knows its kind', async () => {
    const get = world.kube.get.bind(world.kube);
    world.kube.get = async (ref, target) => {
      if (ref.group !== LEGACY_ETCDS.group) return get(ref, target);
      throw new KubeError('KUBE_NOT_FOUND', 'It is not served.', { verb: 'get', ref });
    };
    expect(await refusal()).toMatch(/^KindMissing: The API server knows no EtcdCluster of etcd\./);
  });

  test('it is being deleted', async () => {
    const metadata = { deletionTimestamp: '2026-11-26T06:59:00Z' };
    world.kube.change(LEGACY_ETCDS, { namespace, name: 'old' }, { metadata });
    expect(await refusal()).toMatch(/^LegacyEnding: .*npm run backup/);
  });

  test('it has no pod any more', async () => {
    for (const name of PODS_OF_OLD) world.kube.remove(PODS, { namespace, name });
    expect(await refusal()).toMatch(/^NoMembers: .*restore that with an EtcdRestore\.$/);
  });

  test('no quorum stands', async () => {
    answer('old-a', { ...answerOf(0, { leaderId: undefined }), isQuorate: false });
    answer('old-b', 'It hangs.');
    world.kube.change(PODS, { namespace, name: 'old-c' }, { status: { phase: 'Failed' } });
    expect(await refusal()).toBe(
      'NoQuorum: It has no quorum, so that nobody knows what was written last. Only ' +
        'old-a answers, ' +
        'and not old-b, old-c (It hangs.). Bring one back with its data, and it goes on ' +
        'by itself. ' +
        'If nobody can, back up one that answers (npm run backup), and restore that with an ' +
        'EtcdRestore.',
    );
    expect(statusOf().members?.[2]?.silent).toBe('Its pod does not run.');
  });

  test('nobody answers', async () => {
    for (const name of PODS_OF_OLD) answer(name, 'It hangs.');
    expect(await refusal()).toMatch(/^NoQuorum: .*No member answers, and not old-a, old-b, old-c/);
  });

  test('its members are of different clusters', async () => {
    const header = { clusterId: '8', memberId: '102', revision: '9', raftTerm: 2 };
    answer('old-c', answerOf(2, { header }));
    expect(await refusal()).toMatch(
      /^MembersDisagree: .*old-a is of 7, old-b is of 7, old-c is of 8/,
    );
  });

  test('it asks for logins', async () => {
    for (const [at, name] of PODS_OF_OLD.entries()) {
      answer(name, { ...answerOf(at), isQuorate: false, hasAuth: true });
    }
    expect(await refusal()).toMatch(/^AuthEnabled: .*etcdctl auth disable/);
  });

  test('a member is too old', async () => {
    answer('old-b', answerOf(1, { version: '3.2.13' }));
    expect(await refusal()).toMatch(/^VersionTooOld: It runs etcd 3.2.13, .*Bring it to 3.3.27/);
  });

  test('a member has keys that no snapshot would have', async () => {
    answer('old-a', { ...answerOf(0), hasV2Keys: undefined });
    answer('old-b', { ...answerOf(1), hasV2Keys: true });
    expect(await refusal()).toMatch(/^V2Keys: .*ETCDCTL_API=2 etcdctl rm --recursive\)\.$/);
  });

  test('a member does not tell whether it has such keys', async () => {
    answer('old-b', { ...answerOf(1), hasV2Keys: undefined });
    expect(await refusal()).toMatch(/^V2KeysUnknown: Not told by old-b: .* etcdctl ls \/ shows/);
  });

  test('a member says that data is corrupt', async () => {
    answer('old-b', answerOf(1, { alarms: [{ memberId: '101', type: 'CORRUPT' }] }));
    expect(await refusal()).toMatch(/^Corrupt: old-b says/);
  });

  test.each(['old', 'old-client'])('its Service %s is not there', async (name) => {
    world.kube.remove(SERVICES, { namespace, name });
    expect(await refusal()).toMatch(
      new RegExp(
        `^ServiceMissing: There is no Service shop/${name}, .*app: etcd, etcd_cluster: old`,
      ),
    );
  });

  test('somebody has taken the name of its Service', async () => {
    world.kube.remove(SERVICES, { namespace, name: 'old-client' });
    putService('old-client', false);
    expect(await refusal()).toMatch(
      /^ServiceTaken: Service shop\/old-client is there and does not belong/,
    );
  });

  test('its Service leads elsewhere', async () => {
    world.kube.remove(SERVICES, { namespace, name: 'old-client' });
    putService('old-client', true, { app: 'other' });
    expect(await refusal()).toMatch(/^ServiceRedirected: .*no etcd_cluster: old/);
  });

  test('its operator is of all namespaces, and nobody knows where', async () => {
    const annotations = { 'etcd.database.coreos.com/scope': 'clusterwide' };
    world.kube.change(LEGACY_ETCDS, { namespace, name: 'old' }, { metadata: { annotations } });
    expect(await refusal()).toMatch(/^OperatorUnknown: .*spec\.legacy\.operator/);
    putOperator(1);
    expect(await refusals()).toEqual([]);
  });

  test('its operator is not where the Takeover says', async () => {
    const operator = { namespace: 'operators', name: 'etcd-operator' };
    const legacy = { apiVersion: 'etcd.database.coreos.com/v1beta2', kind: 'EtcdCluster' };
    putTakeover({ ...into({}), legacy: { ...legacy, name: 'old', operator } });
    expect(await refusal()).toMatch(
      /^OperatorMissing: There is no Deployment operators\/etcd-operator/,
    );
    const spec = { replicas: 1, template: { spec: { containers: [] } } };
    const metadata = { ...operator };
    world.kube.put(DEPLOYMENTS, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
    const { objects, refusals: none } = await plan();
    expect(none).toEqual([]);
    expect(objects.find(({ kind }) => kind === 'Deployment')).toMatchObject({
      action: 'Change',
      namespace: 'operators',
    });
  });

  test('more have its label than any operator makes', async () => {
    for (let at = 0; at < 41; at += 1) putPod(`foreign-${at}`, undefined, false);
    expect(await refusal()).toMatch(/^TooMany: .*label etcd_cluster: old/);
  });
});

/** A policy of the API server does, with these words. */
function denyCreation(message: string): void {
  world.kube.create = async (ref) => {
    const said = { statusCode: 422, reason: 'Invalid', message, causes: [] };
    throw new KubeError('KUBE_INVALID', message, { verb: 'create', ref }, { answer: said });
  };
}

describe('of the new one', () => {
  const metadata = (name: string) => ({ namespace, name });
  test('its names are taken', async () => {
    world.kube.put(SERVICES, { apiVersion: 'v1', kind: 'Service', metadata: metadata('new') });
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
    world.kube.put(CLAIMS, { ...claim, metadata: metadata('data-new-2') });
    expect(await refusal()).toBe(
      'NameTaken: A takeover makes a new EtcdCluster, and of shop/new there is already: Service ' +
        'new, claim data-new-2. Write another name in spec.into.name, or delete these if nobody ' +
        'needs them.',
    );
  });

  test('the API server would refuse it', async () => {
    world.kube.refuses = (resource) => resource === 'etcdclusters to be created';
    expect(await refusal()).toMatch(/^EtcdClusterRefused: spec\.into\.spec.*: It is not valid\./);
  });

  test('its name, or a Secret that it would name, was not granted', async () => {
    putTakeover(into({ tls: { peers: { secretName: 'peers' } } }));
    const said =
      'etcdclusters.ballast.dev "new" is forbidden: ValidatingAdmissionPolicy ' +
      "'ballast-takeover' with binding 'ballast-takeover' denied request: It is not granted.";
    denyCreation(said);
    expect(await refusal()).toBe(
      'EtcdClusterForbidden: The function may not make EtcdCluster shop/new: It is not granted. ' +
        'This grants it all that the plan needs: npm run -s rights -- takeover -n shop ' +
        '--into new --secret peers | kubectl apply -f -',
    );
    denyCreation(said.replaceAll('ballast-takeover', 'quota'));
    expect(await refusals()).toEqual(['EtcdClusterRefused']);
  });

  test('it would ask for logins, which clients of before have none of', async () => {
    putTakeover(into({ auth: { users: [] } }));
    expect(await refusal()).toMatch(/^LoginsTooEarly: .*Leave spec.into.spec.auth out/);
  });

  test.each([
    [{ storage: { medium: 'Memory' } }, 'would be in memory'],
    [{ replicas: 0 }, 'would hibernate'],
  ])('%j is nothing to restore into', async (spec, why) => {
    putTakeover(into(spec));
    expect(await refusal()).toMatch(new RegExp(`^EtcdClusterRefused: .*${why}`));
  });

  test('its quota is smaller than the database', async () => {
    answer('old-b', answerOf(1, { dbSizeBytes: 3 * 2 ** 30 }));
    expect(await refusal()).toMatch(/^QuotaTooSmall: A database has 3221225472 bytes.* 2Gi/);
  });

  test('it has TLS, and clients have none', async () => {
    putTakeover(into({ tls: { clients: { mode: 'Mutual' } } }));
    expect(await refusal()).toMatch(/^TlsDiffers: Clients connect without TLS/);
  });

  test('it has what the old one had, and three members for two', async () => {
    const persistentVolumeClaimSpec = {
      storageClassName: 'fast',
      resources: { requests: { storage: '40Gi' } },
    };
    const resources = { requests: { cpu: '200m', memory: '512Mi' }, limits: { junk: 1 } };
    begin({ legacy: { size: 2, pod: { persistentVolumeClaimSpec, resources } } });
    expect(await specTried()).toEqual({
      replicas: 3,
      tls: { clients: { mode: 'None' }, peers: { mode: 'Mutual' } },
      storage: { medium: 'Volume', size: '40Gi', storageClassName: 'fast' },
      resources: { requests: { cpu: '200m', memory: '512Mi' } },
      quota: '2Gi',
    });
    expect(await notes()).toContain('SizeDiffers');
  });

  test.each([
    [{ size: 'three', TLS: 7, pod: [] }],
    [{ size: 99, TLS: { static: { member: null } } }],
  ])('an old object with %j in it is no obstacle', async (legacy) => {
    begin({ legacy });
    expect(await refusals()).toEqual([]);
  });
});

test('its operator may not be looked at', async () => {
  const operator = { namespace: 'operators', name: 'etcd-operator' };
  const legacy = { apiVersion: 'etcd.database.coreos.com/v1beta2', kind: 'EtcdCluster' };
  putTakeover({ ...into({}), legacy: { ...legacy, name: 'old', operator } });
  forbid('deployments', 'etcd-operator');
  expect(await refusal()).toMatch(
    /^OperatorForbidden: .* -n shop --into new --operator operators\/etcd-operator \| kubectl/,
  );
});
