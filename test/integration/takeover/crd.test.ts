// The API server takes some Takeovers and refuses others, in the words of the definition.
import { expect, test } from 'vitest';
import { TAKEOVERS } from '../../../shared/api/takeover.ts';
import { specsOnPlane } from '../../lanes/specs-on-plane.ts';

const LEGACY = { kind: 'EtcdCluster', name: 'old' };
const LEAST = { legacy: LEGACY, into: { name: 'new' } };

const { create, created, edit, say } = specsOnPlane(TAKEOVERS, 'Takeover', 'one');

const wanted = (changes: object): object => ({ ...LEAST, ...changes });
const specOf = async (name: string) => (await created(name))?.['spec'];

test('the name of the old one and of the new one are enough', async () => {
  expect(await specOf(await create(LEAST))).toEqual({
    legacy: { ...LEGACY, apiVersion: 'etcd.database.coreos.com/v1beta2' },
    into: { name: 'new' },
    mode: 'Restore',
  });
});

const legacy = (changes: object) => ({ legacy: { ...LEGACY, ...changes } });
const NATS = legacy({ kind: 'NatsCluster', apiVersion: 'nats.io/v1alpha2' });
const CHART = legacy({ kind: 'StatefulSet', apiVersion: 'apps/v1' });
const AENIX = legacy({ apiVersion: 'etcd.aenix.io/v1alpha1' });
const IMPROBABLE = legacy({ apiVersion: 'etcd.improbable.io/v1alpha1' });

test.each<[object]>([
  [legacy({ operator: { namespace: 'operators', name: 'etcd-operator' } })],
  [{ into: { name: 'new', spec: { replicas: 5, anything: { else: 1 } } } }],
  [{ confirm: 'one-0123456789ab', rollback: true }],
  [{ ...NATS, mode: 'Route' }],
  [{ ...CHART, mode: 'Route' }],
  [{ mode: 'Join', confirm: 'one-0123456789ab' }],
  [{ ...AENIX, confirm: 'one-0123456789ab' }],
  [{ mode: 'Wipe' }],
  [{ mode: 'Wipe', wipe: 'old', confirm: 'one-0123456789ab' }],
  [{ ...IMPROBABLE, confirm: 'one-0123456789ab' }],
])('%j is taken', async (changes) => {
  expect(await specOf(await create(wanted(changes)))).toMatchObject(changes);
});

test.each<[object, string]>([
  [{ ...legacy({ kind: 'NatsCluster' }), mode: 'Route' }, 'Only EtcdClusters of etcd.database'],
  [{ ...AENIX, mode: 'Join' }, 'taken over with mode Restore alone'],
  [NATS, 'A NatsCluster is taken over with mode Route'],
  [{ mode: 'Route' }, 'EtcdCluster with mode Restore'],
  [legacy({ kind: 'EtcdBackup' }), 'Unsupported value: "EtcdBackup"'],
  [{ ...IMPROBABLE, mode: 'Join' }, 'know each other by the Service of the clients'],
  [
    legacy({ apiVersion: 'operator.etcd.io/v1alpha1' }),
    'Only EtcdClusters of etcd.database.coreos.com/v1beta2, of etcd.aenix.io/v1alpha1 and of',
  ],
  [legacy({ operator: { name: 'etcd-operator' } }), 'namespace: Required value'],
  [CHART, 'and so is the StatefulSet of a NATS'],
  [
    { ...legacy({ kind: 'StatefulSet' }), mode: 'Route' },
    'StatefulSets of apps/v1, are taken over',
  ],
  [{ ...NATS, mode: 'Join' }, 'A NatsCluster is taken over with mode Route'],
  [{ mode: 'Wipe', confirm: 'one-0123456789ab' }, 'write the name of the legacy object as wipe'],
  [{ mode: 'Wipe', wipe: 'new' }, 'It has to be the name of the legacy object'],
  [{ mode: 'Wipe', wipe: '' }, 'should be at least 1 chars long'],
  [{ wipe: 'old' }, 'The data are given up with mode Wipe alone'],
  [{ mode: 'Join', wipe: 'old' }, 'The data are given up with mode Wipe alone'],
  [{ ...NATS, mode: 'Wipe', wipe: 'old' }, 'A NatsCluster is taken over with mode Route'],
  [{ ...AENIX, mode: 'Wipe', wipe: 'old' }, 'taken over with mode Restore alone'],
  [{ into: { name: 'old' } }, 'The legacy cluster has a Service of that name'],
  [{ into: { name: 'New' } }, 'The name becomes the name of Services'],
  [{ into: { name: 'a'.repeat(41) } }, 'may not be more than 40'],
  [{ into: { name: 'new', spec: 'three' } }, 'must be of type object'],
  [{ into: {} }, 'name: Required value'],
])('%j is refused', async (changes, why) => {
  await expect(create(wanted(changes))).rejects.toThrow(why);
});

test('it does not become one of another object, and its plan is confirmed afterwards', async () => {
  const name = await create(LEAST);
  const moved = edit(name, { legacy: { name: 'other' } });
  await expect(moved).rejects.toThrow('A Takeover is of one object; create another Takeover');
  const confirm = `${name}-0123456789ab`;
  await edit(name, { confirm });
  expect(await specOf(name)).toMatchObject({ confirm });
});

const WORK = {
  plan: 'one-0123456789ab',
  into: 'a',
  legacyUid: 'b',
  service: { name: 'old', uid: 'c', selector: 'nats_cluster=old' },
  claims: [],
  operators: [],
  attempt: 1,
};

test('a plan that was begun goes on in the mode in which it was confirmed', async () => {
  const name = await create(LEAST);
  await edit(name, { mode: 'Join' });
  await edit(name, { mode: 'Restore' });
  await say(name, { work: WORK });
  await expect(edit(name, { mode: 'Join' })).rejects.toThrow('has another mode, and is carried');
  await edit(name, { rollback: true });
});

test('once nothing leads back any more no rollback is asked for', async () => {
  const name = await create(LEAST);
  await say(name, { work: WORK });
  await edit(name, { rollback: true });
  await edit(name, { rollback: false });
  await say(name, { work: { ...WORK, switchingAt: '2026-11-27T12:00:00Z' } });
  await expect(edit(name, { rollback: true })).rejects.toThrow('nothing leads back any more');
});

test('a name that cannot begin the id of a plan is refused', async () => {
  const why = 'The name becomes a label and the beginning of the id of a plan';
  await expect(create(LEAST, 'a.b')).rejects.toThrow(why);
  await expect(create(LEAST, 'a'.repeat(41))).rejects.toThrow(why);
});

test('the word for a Wipe is not taken back beside the confirmation', async () => {
  const name = await create(wanted({ mode: 'Wipe' }));
  const confirm = `${name}-0123456789ab`;
  await expect(edit(name, { confirm })).rejects.toThrow('write the name of the legacy object as');
  await edit(name, { confirm, wipe: 'old' });
  await expect(edit(name, { wipe: null })).rejects.toThrow('write the name of the legacy object');
  await edit(name, { wipe: null, confirm: null });
});
