// A confirmed plan of a cluster with TLS: members talk with those alone who know their names, trust
// their authority and show what theirs signed, and it is carried out and rolled back all the same.
import { beforeEach, expect, test } from 'vitest';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { Carrying, COREOS } from './carrying.ts';
import { namesOf } from './takeover-run.ts';
import { at, NEW_IP } from './others-at-work.ts';
import { JoinCarrying } from './join-carrying.ts';
import { meetOver } from './meet.ts';
import { beginWithTls, putOperator } from './secrets.ts';
import { forbid, namespace, PODS_OF_OLD, world } from './world.ts';

let run: Carrying;

beforeEach(async () => {
  run = await Carrying.confirmed({ ...COREOS, begin: beginWithTls });
  run.meet = meetOver([NEW_IP]);
});

test('it is carried out, and a backup knows members by their names', async () => {
  run.befalls = ({ kube }) => {
    const found = kube.objects.get(`etcdbackups/${namespace}/over-takeover-1`);
    if (found === undefined) return;
    expect(found['spec']).toMatchObject({
      source: {
        endpoints: PODS_OF_OLD.map((pod) => `https://${pod}.old.shop.svc:2379`),
        tls: {
          secretName: 'operator',
          keys: {
            certificate: 'etcd-client.crt',
            key: 'etcd-client.key',
            authority: 'etcd-client-ca.crt',
          },
        },
      },
    });
  };
  expect(await run.converge()).toBe(true);
  expect([run.status.phase, namesOf(run, 'etcdclusters')]).toEqual(['Done', ['new']]);
  // Keys and certificates are in Secrets alone.
  expect(JSON.stringify(run.status)).not.toMatch(/PRIVATE KEY|CERTIFICATE/);
});

test('members join and leave, and each is asked by its name', async () => {
  const joined = await JoinCarrying.confirmed(() => beginWithTls({ mode: 'Join' }, {}));
  joined.meet = meetOver(['10.0.1.0', '10.0.1.1', '10.0.1.2']);
  expect(await joined.converge()).toBe(true);
  expect([joined.status.phase, namesOf(joined, 'etcdclusters')]).toEqual(['Done', ['new']]);
});

/** While this step is the last one that was begun. */
const isAt = (step: string): boolean => run.step === step;

test.each([
  ['is gone', () => world.kube.remove(SECRETS, at('operator')), 'True SecretMissing'],
  ['may not be read', () => forbid('secrets', 'operator'), 'True SecretForbidden'],
])('where the Secret %s amid the way it waits, and is rolled back later', async (_, lose, says) => {
  run.isSnapshotHeld = true;
  await run.converge(12);
  expect(isAt('Snapshot')).toBe(true);
  const get = world.kube.get.bind(world.kube);
  lose();
  run.isSnapshotHeld = false;
  await run.converge(4);
  expect(run.condition()).toBe(says);
  run.edit({ rollback: true });
  expect(await run.converge(4)).toBe(false);
  expect([run.condition(), run.etcds.alarms.length]).toEqual([says, 1]);
  world.kube.get = get;
  putOperator();
  expect(await run.converge()).toBe(true);
  expect([run.status.phase, run.etcds.alarms]).toEqual(['RolledBack', []]);
});

test.each(['OrphanClaims', 'DeleteLegacy'])(
  'where the old members can no longer be asked at %s they are not deleted',
  async (step) => {
    run.befalls = () => {
      if (isAt(step)) world.kube.remove(SECRETS, at('operator'));
    };
    expect(await run.converge(40)).toBe(false);
    expect(run.condition()).toBe('True SecretMissing');
    expect(namesOf(run, 'etcdclusters')).toEqual(['new', 'old']);
  },
);
